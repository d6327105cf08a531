import { checkSameOptions } from '../arguments.js';
import { checkSameFields, packFields } from '../records.js';
import type { CollectionCall, CollectionOpened } from '../protocol.js';
import type { Fields } from '../types.js';
import type { FullOptions } from './answers.js';
import type { Engine } from './engine.js';

/** Creates a collection with its fields, or not at all. */
function create(engine: Engine, name: string, options: FullOptions, fields: Fields | undefined): number {
  const collection = engine.collection(name, options);
  try {
    if (fields !== undefined) engine.setFields(collection, packFields(fields));
  } catch (error) {
    engine.drop(name);
    throw error;
  }
  return collection;
}

/**
 * Opens a collection, or creates it when it is not there and its dimensions are known. What is there must have the
 * options that were given; those left out are whatever they are.
 */
export function openCollection(engine: Engine, { name, options, given }: CollectionCall): CollectionOpened {
  if (options && !engine.names().includes(name)) {
    return { collection: create(engine, name, options, given.fields), options };
  }
  const collection = engine.find(name);
  const stored = engine.options(collection);
  checkSameOptions(name, given, stored);
  if (given.fields !== undefined) checkSameFields(name, packFields(given.fields), engine.fields(collection));
  return { collection, options: stored };
}
