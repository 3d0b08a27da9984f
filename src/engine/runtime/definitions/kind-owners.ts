import { type LocatedDefinition, statusClaimOf } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import type { OwnObjects } from '../objects/own-object-informer.ts';
import type { PublishedManifests } from '../publish/publisher.ts';
import { type Decision, type DefinitionTask, reject } from './decide.ts';
import { type KindClaim, kindConflictMessage, ownerOf } from './kind-claims.ts';
import { type DefinitionRecord, recordOf, runtimeOf } from './record.ts';
import type { SpecReader } from './spec-reader.ts';

interface KindOwnersOptions {
  readonly objects: Pick<OwnObjects, 'list'>;
  readonly manifests: Pick<PublishedManifests, 'confirmationOf'>;
  readonly reader: SpecReader;
  readonly readsObjects: boolean;
  readonly isOfOther: (runtime: string | undefined) => boolean;
  /** What is done for a definition. Undefined: nothing yet. */
  readonly taskOf: (name: string) => DefinitionTask | undefined;
}

/** Decides over all definitions which one owns the status of a kind. */
export class KindOwners {
  readonly #options: KindOwnersOptions;

  constructor(options: KindOwnersOptions) {
    this.#options = options;
  }

  /** Rejects a definition whose kind's status has another owner. A revision accepted before keeps running. */
  resolve(
    decision: Decision,
    record: DefinitionRecord,
    accepted: LocatedDefinition | undefined,
  ): Decision {
    if (decision.kind !== 'run') return decision;
    const conflict = this.#conflict(record, decision.desired.located);
    if (conflict === undefined) return decision;
    const { revision } = decision.desired.located.definition;
    const rejection = { revision, message: conflict, diagnostics: [] };
    const canKeepRunning = accepted !== undefined && this.#conflict(record, accepted) === undefined;
    if (!canKeepRunning) return reject(record, rejection);
    return { ...decision, desired: { ...decision.desired, located: accepted, rejection } };
  }

  #conflict({ name, object }: DefinitionRecord, located: LocatedDefinition): string | undefined {
    const kind = statusClaimOf(located.definition);
    if (kind === undefined) return undefined;
    const own = this.#claimOf(object, located);
    const others = Iterator.from(this.#options.objects.list())
      .filter(({ metadata }) => metadata.name !== name && metadata.deletionTimestamp === undefined)
      .flatMap((other) => {
        const its = this.#locatedOf(other);
        return its === undefined || statusClaimOf(its.definition) !== kind
          ? []
          : [this.#claimOf(other, its)];
      });
    const owner = ownerOf([own, ...others]);
    return owner === undefined || owner === own ? undefined : kindConflictMessage(own, owner);
  }

  #claimOf(object: KubeObject, located: LocatedDefinition): KindClaim {
    const { name, creationTimestamp = '' } = object.metadata;
    const [accepted] = recordOf(object).revisions;
    const before = accepted && this.#options.reader.revision(name, accepted);
    const isAccepted =
      before !== undefined &&
      statusClaimOf(before.definition) === statusClaimOf(located.definition);
    return { name, located, isAccepted, createdMs: Date.parse(creationTimestamp) };
  }

  /** The revision of another object that runs or is starting. */
  #locatedOf(object: KubeObject): LocatedDefinition | undefined {
    const { manifests, reader, readsObjects, isOfOther, taskOf } = this.#options;
    if (isOfOther(runtimeOf(object))) return undefined;
    const task = taskOf(object.metadata.name);
    if (task?.kind === 'run') return task.desired.located;
    if (task?.kind === 'finalize') return undefined;
    // Only now: each definition asks for all others whenever its status may have changed.
    const record = recordOf(object);
    const [accepted] = record.revisions;
    const isOwn = record.origin.source === 'object';
    return (
      manifests.confirmationOf(object)?.located ??
      (accepted && reader.revision(record.name, accepted)) ??
      (isOwn && readsObjects ? reader.read(object).located : undefined)
    );
  }
}
