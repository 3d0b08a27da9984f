import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { conditionsOf, type KubeObject } from '../../util/kube-object.ts';
import { finishedAnnotationOf } from '../names.ts';

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

/** Above this length of the annotation, records keep only the conditions that are true. A server accepts 256 KiB for all annotations. */
const maxLength = 128 * 1024;

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
    this.#records ??= parseRecords(this.#text);
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
    return { [this.#annotation]: this.records.size === 0 ? null : textOf(this.records) };
  }
}

function parseRecords(text = '{}'): Map<string, FinishedChild> {
  try {
    const parsed: unknown = JSON.parse(text);
    const entries = isJsonObject(parsed) ? Object.entries(parsed) : [];
    return new Map(
      entries.flatMap(([identity, record]) =>
        isRecord(record) ? [[identity, record] as const] : [],
      ),
    );
  } catch {
    // Edited by another manager: nothing counts as finished.
    return new Map();
  }
}

function isRecord(value: unknown): value is FinishedChild {
  return (
    isJsonObject(value) &&
    typeof value.child === 'string' &&
    typeof value.intent === 'string' &&
    isJsonObject(value.status)
  );
}

function textOf(records: ReadonlyMap<string, FinishedChild>): string {
  const sorted = [...records].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(Object.fromEntries(sorted));
  if (text.length <= maxLength) return text;
  return JSON.stringify(
    Object.fromEntries(sorted.map(([identity, record]) => [identity, shortened(record)])),
  );
}

function shortened({ child, intent, status }: FinishedChild): FinishedChild {
  const conditions = conditionsOf({ status })
    .filter((condition) => condition.status === 'True')
    .map(({ type, reason }) => ({ type, status: 'True', ...(reason !== undefined && { reason }) }));
  const { phase } = status;
  return {
    child,
    intent,
    status: { ...(phase !== undefined && { phase }), conditions } as JsonObject,
  };
}
