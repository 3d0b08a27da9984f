import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { KubeCluster } from '../../src/kube/index.ts';
import {
  createManager,
  type DefinitionView,
  type Manager,
  type WantedDefinition,
} from '../../src/runtime/index.ts';
import type { Clock } from '../../src/util/clock.ts';
import { createSystemRandom } from '../../src/util/random.ts';
import { clockOf, type SharedControlPlane } from './control-plane/index.ts';
import { definitionParser } from './definition-parser.ts';
import { useKubeCluster } from './kube-cluster.ts';
import { patienceMs } from './patience.ts';
import { freshMetrics, silentLogger } from './silent-telemetry.ts';

/** What is said of a definition besides its text. */
export type WantedExtras = Omit<WantedDefinition, 'located' | 'formerly'> & {
  /** Texts that ran before. */
  readonly formerly?: readonly string[];
};

/** A manager of one definition on a real cluster, in this process: what the sources would say, the test says. */
export class LiveManager {
  readonly #manager: Manager;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(cluster: KubeCluster, clock: Clock) {
    this.#manager = createManager({
      cluster,
      clock,
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics: freshMetrics(),
    });
    this.#ended = this.#manager.run(this.#stop.signal);
  }

  /** This text is the definition from now on. @returns its revision */
  want(text: string, { formerly, ...extras }: WantedExtras = {}): string {
    const located = locate(text);
    const before = formerly?.map(locate);
    const wanted = { located, ...extras, ...(before && { formerly: before }) };
    this.#manager.replace({ definitions: [wanted] });
    return located.definition.revision;
  }

  /** The definition goes. */
  wantNothing(): void {
    this.#manager.replace({ definitions: [] });
  }

  get view(): DefinitionView | undefined {
    return this.#manager.view().definitions[0];
  }

  /** Resolves with the first view that is as expected. */
  until(what: string, isMet: (view: DefinitionView) => boolean): Promise<DefinitionView> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        unsubscribe();
      };
      const check = () => {
        const { view } = this;
        if (view === undefined || !isMet(view)) return;
        end();
        resolve(view);
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`Waited in vain for ${what}; last seen: ${JSON.stringify(this.view)}`));
      }, patienceMs);
      const unsubscribe = this.#manager.onChange(check);
      check();
    });
  }

  /** Runs it with this revision, everywhere. */
  untilSettled(revision: string): Promise<DefinitionView> {
    return this.until(
      `revision ${revision} everywhere`,
      (view) =>
        view.revision === revision && view.state.kind === 'running' && view.rollout === undefined,
    );
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('The test is over'));
    await this.#ended;
  }
}

export interface LiveManagers {
  /** A client with the rights of an operator. */
  connect(): Promise<KubeCluster>;
  /** A manager that is stopped after the tests. */
  start(cluster: KubeCluster): LiveManager;
}

/** For within a `describe`. */
export function useLiveManagers(shared: SharedControlPlane): LiveManagers {
  const clusters = useKubeCluster(shared);
  const managers: LiveManager[] = [];
  after(() => Promise.all(managers.map((manager) => manager.stop())));
  return {
    connect: () => clusters.connect(shared.plane.kubeconfigPath('operator')),
    start(cluster) {
      const manager = new LiveManager(cluster, clockOf(shared.plane));
      managers.push(manager);
      return manager;
    },
  };
}

function locate(text: string) {
  const { definitions, diagnostics } = definitionParser.parse(text, 'definition.yaml');
  const [located] = definitions;
  assert.ok(located, JSON.stringify(diagnostics));
  return located;
}
