import { silentLogger } from '#telemetry';
import { createSystemClock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';
import type { MessageEnd } from './messages.ts';
import { SandboxSession } from './sandbox-session.ts';
import { servePage } from './serve-page.ts';

/** The entry of the worker: a sandbox for the page that started it. */
declare const homeostatVersion: string;

/** What could send something elsewhere. A worker does not have the content security policy of its page. */
const network = [
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'WebSocketStream', 'EventSource', 'WebTransport'],
  ...['RTCPeerConnection', 'importScripts', 'Worker', 'BroadcastChannel', 'indexedDB', 'caches'],
];
for (const name of network)
  Object.defineProperty(globalThis, name, { value: undefined, configurable: false });

servePage(
  globalThis as unknown as MessageEnd,
  new SandboxSession({
    clock: createSystemClock(),
    random: createSystemRandom(),
    logger: silentLogger,
    version: homeostatVersion,
  }),
);
