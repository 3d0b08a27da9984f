import { renderToString } from 'preact-render-to-string';
import { ConsoleService } from '#console';
import { Simulation } from '#simulation';
import { silentLogger } from '#telemetry';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import type { ConsoleBackend, ConsoleInfo } from '#web';
import { needsOf, pageOf } from '#web/pages/page.ts';
import { parseRoute } from '#web/route.ts';
import { ConsoleStore } from '#web/store/console-store.ts';
import type { UiState, View } from '#web/view.ts';

export interface RenderOptions {
  readonly ui?: Partial<UiState>;
  readonly info?: Partial<ConsoleInfo>;
  readonly isNarrow?: boolean;
  /** Answers in place of those of the simulated cluster. */
  readonly backend?: (backend: ConsoleBackend) => ConsoleBackend;
}

export interface SimulatedConsole {
  readonly service: ConsoleService;
  readonly simulation: Simulation;
  /** The page of an address as HTML, when nothing loads any more. */
  render(hash: string, options?: RenderOptions): Promise<string>;
  /** Runs a promise that waits for the simulated cluster. */
  drive<Value>(promise: Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

export const closedUi: UiState = {
  search: '',
  theme: 'light',
  isHelpOpen: false,
  question: undefined,
  notice: undefined,
  isUnfolded: false,
  revealed: undefined,
};

/**
 * Operators on a simulated cluster with a console, without a server and a browser.
 * @param samples become ready
 * @param given what exists before the samples
 */
export async function simulateConsole(
  definitions: readonly { readonly file: string; readonly text: string }[],
  samples: readonly KubeObject[],
  given: readonly KubeObject[] = [],
): Promise<SimulatedConsole> {
  const simulation = new Simulation({ definitions, logger: silentLogger });
  await simulation.start();
  await simulation.untilStarted();
  for (const object of [...given, ...samples]) await simulation.drive(apply(simulation, object));
  for (const sample of samples) await simulation.drive(untilReady(simulation, sample));
  const cluster = simulation.connect();
  const { clock } = simulation;
  const service = new ConsoleService({
    cluster,
    clock,
    random: createSystemRandom(),
    logger: silentLogger,
    info: { home: 'dev', version: '1.2.3', cluster: 'sandbox', canEdit: true },
  });
  const drive = <Value>(promise: Promise<Value>) => simulation.drive(promise);
  return {
    service,
    simulation,
    drive,
    render: (hash, options = {}) => drive(renderPage({ service, simulation }, hash, options)),
    close: async () => {
      await drive(cluster.close());
      await simulation.close();
    },
  };
}

const flow = { name: 'test', priority: 'object' } as const;
const { signal } = new AbortController();

function pathOf({ apiVersion, kind, metadata }: KubeObject): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${root}${scope}/${kind.toLowerCase()}s/${metadata.name}`;
}

async function apply({ client }: Simulation, object: KubeObject): Promise<void> {
  await client.request(
    {
      method: 'PATCH',
      path: pathOf(object),
      body: object,
      flow,
      query: { fieldManager: 'kubectl' },
      contentType: 'application/apply-patch+yaml',
    },
    signal,
  );
}

async function untilReady({ client, clock }: Simulation, object: KubeObject): Promise<void> {
  for (;;) {
    const { body } = await client.request({ method: 'GET', path: pathOf(object), flow }, signal);
    if (conditionsOf(body).some(({ type, status }) => type === 'Ready' && status === 'True'))
      return;
    await clock.sleep(1_000, signal);
  }
}

async function renderPage(
  { service, simulation }: Pick<SimulatedConsole, 'service' | 'simulation'>,
  hash: string,
  { ui, info, isNarrow = false, backend: replace = (given) => given }: RenderOptions,
): Promise<string> {
  const { clock } = simulation;
  const backend = replace(service);
  let changes = 0;
  const store = new ConsoleStore({ backend, clock, onChange: () => changes++ });
  try {
    await store.start();
    let html = '';
    for (let seen = -1; seen !== changes || html.includes('empty loading'); ) {
      seen = changes;
      store.follow(needsOf(viewOf(), backend));
      await clock.sleep(100, signal);
      html = renderToString(pageOf(viewOf()));
    }
    return html;
  } finally {
    store.stop();
  }

  function viewOf(): View {
    if (store.info === undefined) throw new Error('Not connected');
    const nothing = () => undefined;
    return {
      route: parseRoute(hash),
      store,
      backend,
      isNarrow,
      info: { ...store.info, ...info },
      ui: { ...closedUi, ...ui },
      actions: { set: nothing, go: nothing, run: nothing, ask: nothing },
      nowMs: clock.nowMs(),
    };
  }
}
