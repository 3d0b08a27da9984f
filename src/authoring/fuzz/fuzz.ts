import type { Arbitrary } from 'fast-check';
import * as fc from 'fast-check';
import type { DefinitionManifest, ManifestCheck } from '#check';
import type { TestHttpApi } from '#definition';
import { isCluster } from '#simulation';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { FuzzCluster } from './fuzz-cluster.ts';
import { type FuzzFailure, FuzzRun, type RunResult } from './fuzz-run.ts';
import { type FuzzTarget, samplesOf } from './fuzz-target.ts';
import { type Content, type History, historyArbitrary } from './history.ts';
import { type FieldValues, schemaArbitrary } from './schema-arbitrary.ts';
import { variedArbitrary } from './varied-arbitrary.ts';

export interface FuzzOptions {
  /** All definitions of the cluster. They have no errors. */
  readonly definitions: readonly DefinitionManifest[];
  readonly check: ManifestCheck;
  /** The definition whose resources are created. */
  readonly target: FuzzTarget;
  /** Objects that exist before. A `Cluster` is a simulated member; others are in the cluster of the resources. */
  readonly given: readonly KubeObject[];
  /** Simulated HTTP APIs. Without any, they are derived from the objects that use them. */
  readonly apis: readonly TestHttpApi[];
  /** Where the resources are: name of a `Cluster`, or the hub. */
  readonly place: string;
  readonly samples: readonly KubeObject[];
  /** By JSON pointer below the resource, `*` for any item: the only values of a field. */
  readonly values: Readonly<Record<string, readonly Json[]>>;
  /** Number of histories. */
  readonly runs: number;
  readonly seed: number;
}

export interface FuzzResult {
  /** Histories that were tried. */
  readonly runs: number;
  /** Those of them whose first content the server has rejected. */
  readonly rejected: number;
  /** The message of the last rejection. */
  readonly rejection?: string;
  /** The smallest history that fails. Undefined: none fails. */
  readonly failure?: FuzzFailure & { readonly history: History };
}

/** Rejected resources for each history: a schema seldom says all that the server checks. */
const maxRejections = 3;

/** Attempts to find a smaller history: each needs a new cluster. */
const maxShrinks = 150;

/**
 * Creates random resources of a definition, changes, disturbs and deletes them, and checks what must hold for every definition. A history
 * that fails is reduced to a smaller one. The same options give the same result.
 */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const session = new FuzzSession(options);
  try {
    return await session.run();
  } finally {
    await session.close();
  }
}

class FuzzSession {
  readonly #options: FuzzOptions;
  /** Shared by all histories until one fails or leaves its resource: starting a cluster takes longer than a history. */
  #shared: FuzzCluster | undefined;
  #runs = 0;
  #rejected = 0;
  #rejection: string | undefined;
  #shrinks = 0;
  #failure: (FuzzFailure & { readonly history: History }) | undefined;

  constructor(options: FuzzOptions) {
    this.#options = options;
  }

  async run(): Promise<FuzzResult> {
    const { runs, seed, given } = this.#options;
    const property = fc.asyncProperty(
      historyArbitrary(contentArbitrary(this.#options), given.filter(isCluster).map(nameOf)),
      (history) => (this.#failure === undefined ? this.#first(history) : this.#smaller(history)),
    );
    await fc.check(property, { numRuns: runs, seed, maxSkipsPerRun: maxRejections });
    await this.#withoutActions();
    return {
      runs: this.#runs,
      rejected: this.#rejected,
      ...(this.#rejection !== undefined && { rejection: this.#rejection }),
      ...(this.#failure && { failure: this.#failure }),
    };
  }

  async close(): Promise<void> {
    const shared = this.#shared;
    this.#shared = undefined;
    await shared?.close();
  }

  async #first(history: History): Promise<boolean> {
    this.#shared ??= await FuzzCluster.start(this.#options);
    this.#runs += 1;
    const result = await this.#runOn(this.#shared, history, `fuzz-${this.#runs}`);
    if (result.kind === 'rejected') {
      this.#rejected += 1;
      this.#rejection = result.message;
      // Another one takes its place: it has shown nothing.
      fc.pre(false);
    }
    if (result.kind === 'passed' && result.isLeft) await this.close();
    return this.#note(result, history);
  }

  /** False: it fails, too. Only the same rule counts: a smaller history may fail for another reason. */
  async #smaller(history: History): Promise<boolean> {
    this.#shrinks += 1;
    if (this.#shrinks > maxShrinks) return true;
    const cluster = await FuzzCluster.start(this.#options);
    try {
      const result = await this.#runOn(cluster, history, 'fuzz');
      if (result.kind === 'failed' && result.rule !== this.#failure?.rule) return true;
      return this.#note(result, history);
    } finally {
      await cluster.close();
    }
  }

  /** An edit that fails often fails as the first content, too; shrinking changes one part at a time and does not try that. */
  async #withoutActions(): Promise<void> {
    const { actions = [] } = this.#failure?.history ?? {};
    for (const action of actions.toReversed()) {
      if (action.kind !== 'edit') continue;
      if (!(await this.#smaller({ content: action.content, actions: [] }))) return;
    }
  }

  #runOn(cluster: FuzzCluster, history: History, name: string): Promise<RunResult> {
    return new FuzzRun(cluster, this.#options.target, name).run(history);
  }

  #note(result: RunResult, history: History): boolean {
    if (result.kind !== 'failed') return true;
    const { kind: _, ...failure } = result;
    this.#failure = { ...failure, history };
    return false;
  }
}

/** The fields of a resource beside `metadata` and `status`. */
function contentArbitrary({ target, samples, values }: FuzzOptions): Arbitrary<Content> {
  const { definition } = target;
  const own = samplesOf(definition, samples);
  if (definition.kind.source === 'for') return variedArbitrary(own.map(contentOf), values);
  const { properties = {} } = definition.kind.schema;
  const fields: FieldValues = { only: values, samples: own as unknown as readonly Json[] };
  const model = Object.entries(isJsonObject(properties) ? properties : {})
    .filter(([name]) => !['apiVersion', 'kind', 'metadata', 'status'].includes(name))
    .filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
    .map(([name, schema]) => [name, schemaArbitrary(schema, fields, pointerTo('', name))]);
  return fc.record(Object.fromEntries(model), { noNullPrototype: true }) as Arbitrary<Content>;
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name;
}

function contentOf(sample: KubeObject): Content {
  const { apiVersion: _, kind: __, metadata: ___, ...content } = sample as unknown as JsonObject;
  return content as Content;
}
