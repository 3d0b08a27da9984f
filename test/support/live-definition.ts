import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { KubeCluster } from '#kube';
import {
  type DefinitionView,
  type DesiredDefinition,
  RunningDefinition,
  ViewChangeNotifier,
} from '#runtime';
import type { Clock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { clockOf, type SharedControlPlane } from './control-plane/index.ts';
import { definitionParser } from './definition-parser.ts';
import { recordingGate } from './fakes/recording-gate.ts';
import { useKubeCluster } from './kube-cluster.ts';
import { patienceMs } from './patience.ts';
import { freshMetrics, silentLogger } from './silent-telemetry.ts';

/** What is said of a definition besides its text. */
export type WantedExtras = Omit<DesiredDefinition, 'located' | 'formerly'> & {
  /** Texts that ran before. */
  readonly formerly?: readonly string[];
};

/** One definition at work on a real cluster, in this process: what its object would say, the test says. */
export class LiveDefinition {
  readonly #bell: ViewChangeNotifier;
  readonly #stop = new AbortController();
  readonly #unit: RunningDefinition;
  readonly #gate = recordingGate();

  constructor(cluster: KubeCluster, clock: Clock, name: string) {
    this.#bell = new ViewChangeNotifier(clock);
    this.#unit = new RunningDefinition(
      {
        cluster,
        clock,
        name,
        listener: {
          awaited: () => {},
          changed: () => this.#bell.notify(),
          counted: () => this.#bell.notifyLater(),
        },
        random: createSystemRandom(),
        timeSlicer: unlimitedTimeSlicer,
        logger: silentLogger(),
        metrics: freshMetrics(),
        gate: this.#gate,
      },
      this.#stop.signal,
    );
  }

  /** This text is the definition from now on. @returns its revision */
  want(text: string, { formerly, ...extras }: WantedExtras = {}): string {
    const located = locate(text);
    const before = formerly?.map(locate);
    const desired = { located, ...extras, ...(before && { previous: before }) };
    for (const each of before ?? []) this.#gate.accept(each);
    this.#unit.want({ kind: 'run', desired });
    return located.definition.revision;
  }

  /** Nothing runs from now on. */
  wantNothing(): void {
    this.#unit.want({ kind: 'finalize', reason: 'Withdrawn', message: '' });
  }

  get view(): DefinitionView {
    return this.#unit.view;
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
        if (!isMet(view)) return;
        end();
        resolve(view);
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`Waited in vain for ${what}; last seen: ${JSON.stringify(this.view)}`));
      }, patienceMs);
      const unsubscribe = this.#bell.subscribe(check);
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
    await this.#unit.stop();
  }
}

export interface LiveDefinitions {
  /** A client with the rights of an operator. */
  connect(): Promise<KubeCluster>;
  /** A definition that is stopped after the tests. */
  start(cluster: KubeCluster, name: string): LiveDefinition;
}

/** For within a `describe`. */
export function useLiveDefinitions(shared: SharedControlPlane): LiveDefinitions {
  const clusters = useKubeCluster(shared);
  const definitions: LiveDefinition[] = [];
  after(() => Promise.all(definitions.map((definition) => definition.stop())));
  return {
    connect: () => clusters.connect(shared.plane.kubeconfigPath('operator')),
    start(cluster, name) {
      const definition = new LiveDefinition(cluster, clockOf(shared.plane), name);
      definitions.push(definition);
      return definition;
    },
  };
}

function locate(text: string) {
  const { definitions, diagnostics } = definitionParser.parse(text, 'definition.yaml');
  const [located] = definitions;
  assert.ok(located, JSON.stringify(diagnostics));
  return located;
}
