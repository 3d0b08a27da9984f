import {
  arrangeDiagnostics,
  type Diagnostic,
  type Finding,
  locate,
  type OperatorTest,
  testParts,
} from '#definition';
import { isCluster } from '#simulation';
import { apiVersionOf } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { matcherOf } from '../matchers.ts';
import { checkExpectedValues } from './check-expected-values.ts';
import type { ObjectCheck } from './check-object.ts';

/** The definitions of a test from one of its steps on. */
export interface TestPhase {
  /** Index of the step whose `definition` begins it; 0 for the first phase, which begins with the test. */
  readonly step: number;
  readonly check: ObjectCheck;
}

/**
 * Checks what a test says about objects: their fields, the kinds of references, and the expressions and matchers of its expectations.
 * @param phases in order, at least one
 */
export function checkTest(
  test: OperatorTest,
  phases: readonly [TestPhase, ...TestPhase[]],
): readonly Diagnostic[] {
  const { created, expected, fields, references, expectations } = testParts(test);
  const checkAt = (path: string) => phaseAt(path, phases).check;
  for (const { value, path } of created) checkAt(path).serve(value);
  const foreign = new Set<unknown>();
  for (const { value, path } of [...created, ...expected])
    if (!isKnown(value, checkAt(path))) foreign.add(value.kind);
  const findings = [
    ...created.flatMap(({ value, path }) => {
      // An apply of a child may leave fields out that the operator has applied.
      const isWhole = isWritten(value, path, checkAt(path));
      const found = checkAt(path).check(value, isWhole ? 'whole' : 'subset');
      return below(path, isWhole || hasName(value) ? found : [missingName, ...found]);
    }),
    ...expected.flatMap(({ value, path }) => below(path, checkSubset(value, checkAt(path)))),
    ...fields.flatMap(({ value, path, of, isStatus }) =>
      below(path, checkFields(value, { of, isStatus, check: checkAt(path) })),
    ),
    ...references.flatMap(({ value, path }) => {
      const [kind = ''] = value.split('/');
      // A kind that no definition has is reported with the object.
      return foreign.has(kind) ? [] : unknownKind(kind, path, checkAt(path));
    }),
    ...expectations.flatMap(({ value, path }) =>
      below(
        path,
        checkExpectedValues(value, (kind) => unknownKind(kind, '', checkAt(path))),
      ),
    ),
  ];
  return arrangeDiagnostics(findings.map((finding) => locate(finding, test.source)));
}

/** Is a created object complete as it is written? A `Cluster` of a test needs no kubeconfig. */
function isWritten(object: JsonObject, path: string, check: ObjectCheck): boolean {
  if (isCluster(object)) return false;
  return path.startsWith('/spec/given') || isCustom(object, check);
}

/** An object that is applied needs a name. */
const missingName: Finding = {
  code: 'missing-field',
  path: '/metadata/name',
  at: 'parent-key',
  message: 'Missing field "name"',
};

function hasName({ metadata }: JsonObject): boolean {
  return isJsonObject(metadata) && typeof metadata.name === 'string';
}

/** Actions of a step come before its `definition`, expectations after it. */
function phaseAt(path: string, [first, ...later]: readonly [TestPhase, ...TestPhase[]]): TestPhase {
  const [, step = '-1', part] = /^\/spec\/steps\/(\d+)\/(\w+)/.exec(path) ?? [];
  const hasBegun = (phase: TestPhase) =>
    part === 'expect' ? phase.step <= Number(step) : phase.step < Number(step);
  return later.findLast(hasBegun) ?? first;
}

function isKnown({ apiVersion, kind }: JsonObject, { kinds }: ObjectCheck): boolean {
  return kinds.find(String(apiVersion), String(kind)) !== undefined;
}

function isCustom({ apiVersion, kind }: JsonObject, { kinds }: ObjectCheck): boolean {
  return kinds.find(String(apiVersion), String(kind))?.isCustom === true;
}

function below(pointer: string, findings: readonly Finding[]): readonly Finding[] {
  return findings.map((finding) => ({ ...finding, path: `${pointer}${finding.path}` }));
}

interface FieldsOptions {
  /** `Kind/name` */
  readonly of: string;
  readonly isStatus: boolean;
  readonly check: ObjectCheck;
}

/** Fields of the object of a reference; what is wrong with its kind is found elsewhere. */
function checkFields(
  fields: JsonObject,
  { of, isStatus, check }: FieldsOptions,
): readonly Finding[] {
  const [name = ''] = of.split('/');
  const found = check.kinds.named(name);
  if (found === undefined) return [];
  const kind = { apiVersion: apiVersionOf(found.gvk), kind: found.gvk.kind };
  const object = isStatus ? { ...kind, status: fields } : { ...fields, ...kind };
  return checkSubset(object, check).map((finding) => ({
    ...finding,
    path: isStatus ? finding.path.replace(/^\/status/, '') : finding.path,
  }));
}

/** Unknown fields are mistakes whatever is expected of them; values are checked where they stand for themselves. */
function checkSubset(object: JsonObject, check: ObjectCheck): readonly Finding[] {
  const names = check.check(asMap(replaceValues(object, null)), 'subset');
  const values = check.check(asMap(replaceValues(object, undefined)), 'subset');
  return [
    ...names.filter(({ code }) => code === 'unknown-field'),
    ...values.filter(({ code }) => code !== 'unknown-field'),
  ];
}

function asMap(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The value with a replacement for matchers and expressions. Undefined removes them, and the lists that have them as items. */
function replaceValues(value: Json | undefined, replacement: null | undefined): Json | undefined {
  if (typeof value === 'string' && value.includes('${')) return replacement;
  if (value === null || matcherOf(value) !== undefined) return replacement;
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => replaceValues(item, replacement));
    return items.includes(undefined) ? undefined : (items as Json[]);
  }
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).map(
    ([key, field]) => [key, replaceValues(field, replacement)] as const,
  );
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

function unknownKind(kind: string, path: string, { kinds }: ObjectCheck): readonly Finding[] {
  if (kinds.named(kind) !== undefined) return [];
  const message = `There is no kind "${kind}"`;
  const hint = kinds.hintForName(kind) ?? 'Neither Kubernetes nor a definition has this kind';
  return [{ code: 'unknown-name', path, message, hint }];
}
