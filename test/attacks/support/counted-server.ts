import { type ApiClient, createClusterOn, errorFromResponse, type KubeCluster } from '#kube';
import { FakeClock } from '../../support/fake-clock.ts';
import { freshMetrics, silentLogger } from '../../support/silent-telemetry.ts';

/** A response of an API server. */
export interface CountedAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** What a server answers. */
export interface CountedScript {
  readonly answer: (request: CountedRequest) => CountedAnswer;
  /**
   * Lines of a watch, how long it stays open after them, in ms, and a line that it repeats meanwhile each minute; or a response in their
   * place. @default stays open
   */
  readonly watch?: (request: CountedRequest) => CountedWatch | CountedAnswer;
}

export interface CountedWatch {
  readonly lines: readonly string[];
  readonly lastsMs?: number;
  readonly repeats?: string;
}

export interface CountedRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

const minuteMs = 60_000;
/** Then it does not answer any more: without a pause, the requests would not end. */
const maxRequests = 5_000;

/** A cluster whose server is in this process, with the requests that it got and a clock that the test moves. */
export function countedCluster({ answer, watch = () => ({ lines: [] }) }: CountedScript) {
  const clock = new FakeClock();
  const requests: CountedRequest[] = [];
  const lost: string[] = [];
  const never = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  const count = (path: string, query: CountedRequest['query'] = {}) => {
    const request = { path, query };
    requests.push(request);
    return requests.length > maxRequests ? undefined : request;
  };
  const checked = ({ status, body }: CountedAnswer) => {
    if (status >= 400) throw errorFromResponse({ status, body });
    return { status, body };
  };
  const request: ApiClient['request'] = async ({ path, query }, signal) => {
    const counted = count(path, query);
    return counted === undefined ? never(signal) : checked(answer(counted));
  };
  const stream: ApiClient['stream'] = async ({ path, query }, signal) => {
    const counted = count(path, query);
    if (counted === undefined) return never(signal);
    const found = watch(counted);
    if ('status' in found) checked(found);
    const opened: CountedWatch = 'lines' in found ? found : { lines: [] };
    async function* chunks() {
      const { lines, lastsMs = Number.MAX_SAFE_INTEGER, repeats } = opened;
      for (const line of lines) yield `${line}\n`;
      for (let leftMs = lastsMs; leftMs > 0; leftMs -= minuteMs) {
        await clock.sleep(repeats === undefined ? leftMs : Math.min(leftMs, minuteMs), signal);
        if (repeats === undefined) return;
        yield `${repeats}\n`;
      }
    }
    return { chunks: chunks(), close: () => {} };
  };
  const client = {
    ...{ request, stream, unreachable: undefined, onAuthenticated: () => () => {} },
    ...{ suspectOutage: () => {}, dropPendingWrites: () => {}, close: async () => {} },
  };
  const cluster: KubeCluster = createClusterOn(client, {
    clock,
    random: { fraction: () => 0, text: () => '' },
    logger: silentLogger(),
    metrics: freshMetrics(),
    onLost: (why) => lost.push(why),
  });
  return { cluster, clock, requests, lost };
}
