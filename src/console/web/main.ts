import { createSystemClock } from '#util/clock.ts';
import { startApp } from './app.ts';
import { FetchBackend } from './backend/fetch-backend.ts';

/** The entry of the browser: the console of the server that served this page. */
const clock = createSystemClock();
const root = document.getElementById('console');
if (root === null) throw new Error('The page has no element "console"');
startApp({
  clock,
  window,
  root,
  backend: new FetchBackend({ base: new URL('.', document.baseURI).href, clock }),
});
