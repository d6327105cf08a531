import { checkSameOptions } from '../arguments.js';
import { checkSameFields, packFields } from '../records.js';
import type { CollectionCall, CollectionOpened } from '../protocol.js';
import type { Engine } from './engine.js';

/**
 * Opens a collection, or creates it when it is not there and its dimensions are known. What is there must have the
 * options that were given; those left out are whatever they are.
 */
export function openCollection(engine: Engine, { name, options, given }: CollectionCall): CollectionOpened {
  if (options && !engine.names().includes(name)) {
    const collection = engine.collection(name, options);
    if (given.fields !== undefined) engine.setFields(collection, packFields(given.fields));
    return { collection, options };
  }
  const collection = engine.find(name);
  const stored = engine.options(collection);
  checkSameOptions(name, given, stored);
  if (given.fields !== undefined) checkSameFields(name, packFields(given.fields), engine.fields(collection));
  return { collection, options: stored };
}
