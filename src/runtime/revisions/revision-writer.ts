import type { LocatedDefinition } from '../../definition/index.ts';
import type { Cluster } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { WritePace } from '../objects/index.ts';
import type { DefinitionOrigin } from '../wanted-definition.ts';
import { isSamePlace } from './record-owner.ts';
import type { RecordedRevisions } from './recorded-revisions.ts';
import {
  definitionOf,
  keepsRevision,
  numberOf,
  originOfRevision,
  type RevisionPlace,
  revisionGvk,
  revisionObject,
  revisionObjectName,
} from './revision-object.ts';

/** So many revisions of a definition are kept. */
const kept = 2;
const fieldManager = 'homeostat/operatordefinitions.revisions';

export interface RevisionWriterOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly namespace: string;
  readonly recorded: RecordedRevisions;
  /** Is a record of a text there this process's? */
  readonly keeps: (origin: DefinitionOrigin | undefined) => boolean;
  /** Called when the server has taken one. */
  readonly onRecorded: () => void;
}

/** Brings to the record what is to be on it. */
export class RevisionWriter {
  readonly #options: RevisionWriterOptions;
  /** What others take away is put back so often at most. */
  readonly #pace: WritePace;

  constructor(options: RevisionWriterOptions) {
    this.#options = options;
    this.#pace = new WritePace(options.clock, { burst: 10, refillMs: 6_000 });
  }

  /**
   * Puts it on record as the newest, and leaves one other there. One that is there already gets the next number, and keeps its data.
   * @returns how long it has to wait, in ms; 0: it is done
   * @throws KubeError
   */
  async record(
    located: LocatedDefinition,
    origin: DefinitionOrigin | undefined,
    signal: AbortSignal,
  ): Promise<number> {
    const { recorded, keeps } = this.#options;
    if (!keeps(origin)) return 0;
    const { name } = located.definition;
    const all = recorded.of(name);
    const same = all.find((object) => keepsRevision(object, located));
    const isNewest = same !== undefined && same === all[0];
    if (!isNewest || !isSamePlace(originOfRevision(same), origin)) {
      const delayMs = this.#pace.delayOf(name);
      if (delayMs > 0) return delayMs;
      this.#pace.written(name);
      const highest = Math.max(0, ...all.map(numberOf));
      const number = isNewest ? highest : highest + 1;
      await this.#apply(located, { number, origin, recorded: same }, signal);
    }
    const others = all.filter((object) => object !== same);
    for (const object of others.slice(kept - 1)) await this.#remove(object, signal);
    return 0;
  }

  /** @throws KubeError */
  async removeAll(name: string, signal: AbortSignal): Promise<void> {
    for (const object of this.#options.recorded.of(name)) await this.#remove(object, signal);
  }

  /** What is recorded of it next is recorded at once. */
  forget(name: string): void {
    this.#pace.forget(name);
  }

  async #apply(
    located: LocatedDefinition,
    place: Pick<RevisionPlace, 'number' | 'origin' | 'recorded'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster, namespace, recorded, onRecorded } = this.#options;
    const { name, revision } = located.definition;
    const isNameTaken =
      recorded.informer?.get(namespace, revisionObjectName(name, revision)) !== undefined;
    await cluster.apply(
      revisionObject(located, { namespace, isNameTaken, ...place }),
      { fieldManager, force: true, flow: { name, priority: 'status' } },
      signal,
    );
    onRecorded();
  }

  async #remove(object: KubeObject, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid = '' } = object.metadata;
    const flow = { name: definitionOf(object), priority: 'status' } as const;
    await this.#options.cluster.delete(
      { gvk: revisionGvk, namespace, name },
      { uid, flow },
      signal,
    );
  }
}
