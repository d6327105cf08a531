import { byId } from './dom.ts';
import { DocumentApp } from './document-app.ts';
import { readParameters } from './parameters.ts';
import { Tabs, type View, viewOf } from './views/tabs.ts';
import { WordApp } from './word-app.ts';

const parameters = readParameters(location.search);
const apps = { words: new WordApp(parameters), documents: new DocumentApp(parameters) };
const started = new Set<View>();
let shown = viewOf(location.hash);

// A view's data and engine are loaded when it is seen for the first time.
const tabs = new Tabs((view) => {
  shown = view;
  if (started.has(view)) return;
  started.add(view);
  void apps[view].start();
});
tabs.show(shown);

byId('skip', HTMLAnchorElement).addEventListener('click', (event) => {
  event.preventDefault(); // the address after # is what is asked
  apps[shown].focus();
});
