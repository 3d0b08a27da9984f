import type { LocatedDefinition } from '../../../src/definition/index.ts';
import { createDefinitionRevisions } from '../../../src/runtime/revisions/create-definition-revisions.ts';
import type { DefinitionRevisionsOptions } from '../../../src/runtime/revisions/definition-revisions.ts';
import { revisionGvk } from '../../../src/runtime/revisions/revision-object.ts';
import { createLogger } from '../../../src/telemetry/index.ts';
import type { KubeObject } from '../../../src/util/kube-object.ts';
import { FakeClock, settle } from '../fake-clock.ts';
import { freshMetrics } from '../silent-telemetry.ts';
import { locatedThing, RuntimeFakeCluster } from './definition-world.ts';

export const bodies = ['', '  status: { size: "${ 1 }" }\n', '  status: { size: "${ 2 }" }\n'];
export const [first, second, third] = bodies.map((body) => locatedThing('thing', body)) as [
  LocatedDefinition,
  LocatedDefinition,
  LocatedDefinition,
];

/** What is kept of revisions in a fake cluster; who accepts them is played by the test. */
export class RevisionWorld {
  readonly cluster: RuntimeFakeCluster;
  readonly clock = new FakeClock();
  readonly log: string[] = [];
  readonly revisions;
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(
    cluster = new RuntimeFakeCluster(),
    options: Partial<DefinitionRevisionsOptions> = {},
  ) {
    this.cluster = cluster;
    this.revisions = createDefinitionRevisions({
      cluster,
      clock: this.clock,
      logger: createLogger({
        level: 'info',
        destination: { write: (line) => void this.log.push(JSON.parse(line).msg) },
      }),
      metrics: freshMetrics(),
      namespace: 'homeostat-system',
      ...options,
    });
  }

  async start(): Promise<this> {
    this.#ended = this.revisions.run(this.#stop.signal);
    await this.settle();
    return this;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async settle(): Promise<void> {
    do await settle();
    while (this.cluster.deliver());
    await settle();
  }

  async accept(...all: readonly LocatedDefinition[]): Promise<void> {
    for (const located of all) {
      this.revisions.accepted(located);
      await this.settle();
    }
  }

  /** `name number` of what is on record, oldest first. */
  get recorded(): readonly string[] {
    return this.objects.map(({ metadata, revision }) => `${metadata.name} ${revision}`);
  }

  get objects(): readonly KubeObject[] {
    return this.cluster.server
      .list(revisionGvk)
      .map(({ object }) => object)
      .sort((a, b) => Number(a.revision) - Number(b.revision));
  }
}

/** The name of the object that keeps it. */
export function nameOf({ definition: { name, revision } }: LocatedDefinition): string {
  return `${name}-${revision}`;
}
