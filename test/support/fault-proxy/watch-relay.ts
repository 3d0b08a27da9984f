import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertNever } from '#util/homeostat-error.ts';
import type { EventFault } from './fault.ts';
import type { FaultList } from './fault-list.ts';
import type { InjectedFault } from './injected-fault.ts';
import type { ProxiedRequest } from './proxied-request.ts';
import { statusBody } from './status-body.ts';

export interface WatchRelayOptions {
  readonly request: ProxiedRequest;
  readonly faults: FaultList;
  /** From the API server. */
  readonly source: IncomingMessage;
  /** To the runtime. */
  readonly target: ServerResponse;
  /** Breaks the connection to the runtime. */
  readonly cut: () => void;
}

/** Relays a watch line by line; each event may meet a fault. Ends when either side does. */
export async function relayWatch(options: WatchRelayOptions): Promise<void> {
  const { source, target, cut } = options;
  target.once('close', () => source.destroy());
  try {
    const hasEnded = await relayLines(options);
    if (hasEnded) target.end();
  } catch {
    // The server broke the stream, or the runtime went away: the other side is to see the same.
    cut();
  }
}

/** True at the server's own end, false when a fault has ended it. */
async function relayLines({ request, faults, source, target, cut }: WatchRelayOptions) {
  let repeated = '';
  for await (const line of linesOf(source)) {
    const injected = faults.forEvent(request);
    const late = repeated;
    repeated = '';
    if (injected === undefined) {
      target.write(line + late);
      continue;
    }
    const { action } = injected.fault;
    switch (action.kind) {
      case 'cut':
        if (action.midLine) await write(target, line.slice(0, line.length / 2));
        cut();
        return false;
      case 'silence':
        await untilRemoved(injected, target);
        cut();
        return false;
      case 'error':
        target.end(`${errorLine(action.status, request)}\n`);
        return false;
      case 'duplicate':
        target.write(line + line + late);
        repeated = line;
        break;
      case 'lag':
        await sleep(action.ms);
        target.write(line + late);
        break;
      default:
        assertNever(action);
    }
  }
  return true;
}

/** Whole lines, each with its line break. */
async function* linesOf(source: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  source.setEncoding('utf8');
  for await (const chunk of source) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield `${line}\n`;
  }
}

function errorLine(status: number, request: ProxiedRequest): string {
  return JSON.stringify({ type: 'ERROR', object: statusBody(status, request) });
}

function write(target: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => {
    target.write(text, () => resolve());
  });
}

function untilRemoved(injected: InjectedFault<EventFault>, target: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = () => resolve();
    injected.removed.addEventListener('abort', end, { once: true });
    target.once('close', end);
    if (injected.removed.aborted) end();
  });
}
