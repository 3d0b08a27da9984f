import { testHub } from '#definition';
import { didYouMean } from '#util/did-you-mean.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { ExpectedValues } from './expected-values.ts';
import { isHttpKind } from './http/needs-runtime.ts';
import { completeCluster, isCluster } from './members/cluster-object.ts';
import type { Simulation } from './simulation.ts';
import { TestCluster, UnknownReferenceError } from './test-cluster.ts';

/** A cluster that expectations are about. */
export interface TestPlace {
  readonly cluster: TestCluster;
  readonly values: ExpectedValues;
}

/** Simulated time in which a definition must start in a member, in ms. */
const startMs = 60_000;

/** The hub of a simulation and its members, addressed as tests do. */
export class TestClusters {
  readonly hub: TestCluster;
  readonly #simulation: Simulation;
  readonly #places = new Map<string, TestPlace>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    this.hub = new TestCluster(simulation);
    this.#places.set(testHub, { cluster: this.hub, values: new ExpectedValues(this.hub) });
  }

  /** @throws UnknownReferenceError if there is no such cluster */
  placeOf(name: string): TestPlace {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const { members } = this.#simulation;
    if (!members.names.includes(name)) {
      const hint = didYouMean(name, [testHub, ...members.names]);
      const text = `There is no member cluster "${name}"`;
      throw new UnknownReferenceError(hint === undefined ? text : `${text}. ${hint}`);
    }
    const cluster = new TestCluster(members.get(name).api);
    const place = { cluster, values: new ExpectedValues(cluster) };
    this.#places.set(name, place);
    return place;
  }

  /** @throws UnknownReferenceError if there is no such cluster */
  of(name: string): TestCluster {
    return this.placeOf(name).cluster;
  }

  /** Applies an object as a user does. A `Cluster` leads to a simulated member. @throws KubeError, UnknownReferenceError */
  async apply(object: KubeObject, cluster: string = testHub): Promise<void> {
    if (isCluster(object)) return this.#applyCluster(object);
    const target = this.of(cluster);
    if (cluster === testHub && isHttpKind(object)) await this.#simulation.serveHttpKinds();
    if (cluster !== testHub) await this.#untilServed(object, target);
    await target.apply(object);
  }

  /** Lets time pass until a member serves a kind: its definition installs the kind when it starts there. */
  async #untilServed(object: KubeObject, target: TestCluster): Promise<void> {
    const simulation = this.#simulation;
    if (simulation.runtime === undefined) return;
    const endMs = simulation.clock.monotonicMs() + startMs;
    while (!(await target.serves(object)) && simulation.clock.runNextTimer(endMs))
      await simulation.idle();
  }

  /** Lets members stop or start responding to the operators. @throws UnknownReferenceError */
  setReachable(names: readonly string[], isReachable: boolean): void {
    for (const name of names) {
      this.of(name);
      this.#simulation.members.setReachable(name, isReachable);
    }
  }

  async #applyCluster(object: KubeObject): Promise<void> {
    await this.#simulation.serveClusters();
    this.#simulation.members.get(object.metadata.name);
    for (const each of completeCluster(object)) await this.hub.apply(each);
  }
}
