import { App } from './app.ts';
import { readParameters } from './parameters.ts';

void new App(readParameters(location.search)).start();
