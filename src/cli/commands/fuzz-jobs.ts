import { relative } from 'node:path';
import { checkDefinitions, type DefinitionManifest, type ManifestCheck } from '#check';
import { bundledSchemas } from '#compile';
import {
  childKindsOf,
  type OperatorDefinition,
  type OperatorFuzz,
  printOrderedYaml,
} from '#definition';
import { type FuzzResult, fuzz, fuzzTarget, reproductionOf } from '#fuzz';
import { withMembers } from '#simulation';
import { groupKindKey } from '#util/gvk.ts';
import { invariant } from '#util/homeostat-error.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Random resources of one definition. Plain data. */
export interface FuzzJob {
  readonly kind: 'fuzz';
  /** Name of the definition. */
  readonly name: string;
  /** All definitions of the cluster. They have no errors. */
  readonly definitions: readonly DefinitionManifest[];
  readonly samples: readonly KubeObject[];
  /** Undefined: nothing limits the resources. */
  readonly limits?: OperatorFuzz;
  /** Number of histories. */
  readonly runs: number;
  readonly seed: number;
}

export interface FuzzJobResult {
  readonly kind: 'fuzz';
  readonly hasFailed: boolean;
  /** What is printed. */
  readonly lines: readonly string[];
}

/** Runs histories of definitions. */
export class FuzzRunner {
  readonly #check: ManifestCheck;

  constructor(check: ManifestCheck) {
    this.#check = check;
  }

  async run({ name, definitions, samples, limits, runs, seed }: FuzzJob): Promise<FuzzJobResult> {
    const check = this.#check;
    const { accepted } = checkDefinitions(definitions, { schemas: bundledSchemas(), check });
    const located = accepted.find((each) => each.plan.name === name)?.located;
    invariant(located !== undefined, `There is no definition "${name}"`);
    const { values = {}, skip = [], given: limited = [], apis = [] } = limits ?? {};
    const target = fuzzTarget(located, samples, skip);
    const before = [...kindsUsedBy(located.definition, samples), ...limited];
    const { given, place } = withMembers(located.definition, before);
    const cluster = { definitions, check, given, place, apis };
    const result = await fuzz({ ...cluster, target, samples, values, runs, seed });
    const { failure } = result;
    const lines = [...resultLines(name, result, seed)];
    if (failure !== undefined) {
      const definition = relative('.', located.source.file);
      const { history } = failure;
      const test = reproductionOf({ ...cluster, target, failure, history, definition });
      lines.push(printOrderedYaml(test));
    }
    return {
      kind: 'fuzz',
      hasFailed: failure !== undefined || result.rejected === result.runs,
      lines,
    };
  }
}

/** The CRDs among samples of kinds that a definition uses: those of others, which must exist before. */
function kindsUsedBy(
  { kind, reads, ...definition }: OperatorDefinition,
  samples: readonly KubeObject[],
): readonly KubeObject[] {
  const gvks = [kind.gvk, ...childKindsOf(definition), ...reads.map(({ gvk }) => gvk)];
  const used = new Set(gvks.map(groupKindKey));
  return samples.filter((sample) => {
    if (sample.kind !== 'CustomResourceDefinition' || !isJsonObject(sample.spec)) return false;
    const { group, names } = sample.spec;
    if (!isJsonObject(names)) return false;
    return used.has(groupKindKey({ group: String(group), kind: String(names.kind) }));
  });
}

function resultLines(
  name: string,
  { runs, rejected, rejection, failure }: FuzzResult,
  seed: number,
): readonly string[] {
  if (rejected === runs)
    return [
      `FAIL ${name}: the API server rejects every random resource (${runs})`,
      ...(rejection === undefined ? [] : [`  the last one: ${rejection}`]),
      '  hint: Add a resource to the folder "samples" beside the definition, or a document "kind: OperatorFuzz" with "values"',
    ];
  const done = runs - rejected;
  const count = `${done} ${done === 1 ? 'history' : 'histories'}${rejected === 0 ? '' : ` (the API server rejected ${rejected} other resources)`}`;
  if (failure === undefined) return [`PASS ${name}: ${count}`];
  return [
    `FAIL ${name}: ${failure.message}`,
    `  found after ${count}; --seed ${seed} finds it again. This test shows it:`,
    '',
  ];
}
