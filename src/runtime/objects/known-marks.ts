import { deepEqual } from '../../util/deep-equal.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { KnownDefinition } from '../registry/known-definition.ts';
import { conditionsIn, liveStatus } from './definition-status.ts';
import { marksIn } from './marks.ts';
import { originOfMirror } from './mirror.ts';
import { isMirror } from './names.ts';

/** What stands on the objects of definitions, for the registry. */
export class KnownMarks {
  readonly #known = new Map<string, KnownDefinition>();
  readonly #listeners = new Set<() => void>();

  get all(): ReadonlyMap<string, KnownDefinition> {
    return this.#known;
  }

  /** Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** The object is like this now. Undefined: it is gone. */
  note(name: string, object: KubeObject | undefined): void {
    const before = this.#known.get(name);
    const now = object && knownOf(object);
    if (deepEqual(before, now)) return;
    if (now === undefined) this.#known.delete(name);
    else this.#known.set(name, now);
    for (const listener of this.#listeners) listener();
  }
}

function knownOf(object: KubeObject): KnownDefinition {
  const { name, annotations } = object.metadata;
  const origin = isMirror(object) ? originOfMirror(object) : ownOrigin(object);
  return {
    name,
    ...(origin && { origin }),
    ...marksIn(annotations),
  };
}

/** An object that was taken once keeps its name against files that come later. */
function ownOrigin(object: KubeObject): KnownDefinition['origin'] {
  const isTaken = conditionsIn(liveStatus(object)).some(
    ({ type, status }) => type === 'Running' && status === 'True',
  );
  return isTaken ? { source: 'object', ref: object.metadata.name } : undefined;
}
