import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { finishedAnnotationOf } from '#util/stored-names.ts';
import { finishedText, parseFinished } from './finished-text.ts';

/** The record of a child that has finished: stored on the resource, for the time when the object has removed itself. */
export interface FinishedChild {
  /** Id of the child. */
  readonly child: string;
  /** The hash of the intent that has run. */
  readonly intent: string;
  /** Of the object. */
  readonly uid?: string;
  readonly creationTimestamp?: string;
  /** The last status of the object: expressions and readiness still read it. */
  readonly status: JsonObject;
}

/** The records of a resource, with the changes of the pass. Read on demand: most resources have none. */
export class FinishedChildren {
  readonly #resource: KubeObject;
  readonly #annotation: string;
  #records: Map<string, FinishedChild> | undefined;
  #isChanged = false;

  constructor(resource: KubeObject, definition: string) {
    this.#resource = resource;
    this.#annotation = finishedAnnotationOf(definition);
  }

  get isEmpty(): boolean {
    return this.#records === undefined ? this.#text === undefined : this.#records.size === 0;
  }

  get #text(): string | undefined {
    return this.#resource.metadata.annotations?.[this.#annotation];
  }

  /** By identity. */
  get records(): ReadonlyMap<string, FinishedChild> {
    this.#records ??= parseFinished(this.#text);
    return this.#records;
  }

  set(identity: string, record: FinishedChild): void {
    this.#records = new Map(this.records).set(identity, record);
    this.#isChanged = true;
  }

  delete(identity: string): void {
    if (this.isEmpty || !this.records.has(identity)) return;
    const left = new Map(this.records);
    left.delete(identity);
    this.#records = left;
    this.#isChanged = true;
  }

  /** The changed annotation, for the next write; undefined: nothing has changed since the last one. */
  takeChange(): Readonly<Record<string, string | null>> | undefined {
    if (!this.#isChanged) return undefined;
    this.#isChanged = false;
    return { [this.#annotation]: this.records.size === 0 ? null : finishedText(this.records) };
  }
}
