import { parseDurationMs } from '#util/duration.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type Diagnostic, type Finding, locate } from '../finding.ts';
import { arrangeDiagnostics } from '../parse-definitions.ts';
import { createSchemaCheck } from '../schema/schema-findings.ts';
import { describeFound, fieldOf, itemsAt, mapAt, mapsAt, quotedList, valueAt } from '../tree.ts';
import { readBoundedDocuments, type YamlDocument } from '../yaml/read-documents.ts';
import {
  type Expectation,
  type OperatorTest,
  type TestObjects,
  type TestPatch,
  type TestStep,
  testHub,
} from './operator-test.ts';
import { operatorTestKind, operatorTestSchema } from './operator-test-schema.ts';
import { apiChangeOf, checkApis, testApisOf } from './test-apis.ts';

/** A test with errors, or a file that is no YAML. */
export interface RejectedTest {
  /** Empty if it cannot be read. */
  readonly name: string;
  readonly errors: readonly Diagnostic[];
}

export interface ParsedOperatorTests {
  /** The documents without an error. */
  readonly tests: readonly OperatorTest[];
  readonly rejected: readonly RejectedTest[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads files of tests. */
export interface OperatorTestParser {
  /** Reads the tests of one file. Documents of other kinds are skipped. `file` is a name for messages. Does not throw. */
  parse(text: string, file: string): ParsedOperatorTests;
}

const checkSchema = createSchemaCheck(operatorTestSchema);

/** Creates a parser for any number of files. */
export function createOperatorTestParser(): OperatorTestParser {
  return {
    parse(text, file) {
      const { documents, syntaxErrors } = readBoundedDocuments(text, file, 'kubectl');
      const parsed = documents.filter(({ value }) => isTest(value)).map(parseDocument);
      const isRead = syntaxErrors.length === 0;
      return {
        tests: isRead ? parsed.flatMap(({ test }) => test ?? []) : [],
        rejected: isRead
          ? parsed.flatMap(({ name, test, diagnostics }) =>
              test === undefined ? { name, errors: errorsIn(diagnostics) } : [],
            )
          : [{ name: parsed[0]?.name ?? '', errors: errorsIn(syntaxErrors) }],
        diagnostics: arrangeDiagnostics([
          ...syntaxErrors,
          ...parsed.flatMap(({ diagnostics }) => diagnostics),
        ]),
      };
    },
  };
}

function errorsIn(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return arrangeDiagnostics(diagnostics.filter(({ severity }) => severity === 'error'));
}

/** Is a document with this content a test? */
function isTest(document: Json): boolean {
  return fieldOf(document, 'kind') === operatorTestKind;
}

interface ParsedDocument {
  readonly name: string;
  readonly test?: OperatorTest;
  readonly diagnostics: readonly Diagnostic[];
}

function parseDocument({ value, source, warnings }: YamlDocument): ParsedDocument {
  const findings = [...checkSchema(value), ...checkSteps(value), ...checkApis(value)];
  const diagnostics = [...warnings, ...findings.map((finding) => locate(finding, source))];
  const name = String(valueAt(value, '/metadata/name') ?? '');
  if (errorsIn(diagnostics).length > 0) return { name, diagnostics };
  const definitions = valueAt(value, '/spec/definitions');
  const test: OperatorTest = {
    name,
    ...(Array.isArray(definitions) && { definitions: definitions.map(String) }),
    given: itemsAt(value, '/spec/given').map((item) => testObjects(item.value, testHub)),
    apis: testApisOf(value, '/spec/apis'),
    steps: mapsAt(value, '/spec/steps').map((item) => resolveStep(item.value, item.path)),
    source,
    document: value as JsonObject,
  };
  return { name, test, diagnostics };
}

const expectationKinds = [
  'object',
  'absent',
  'condition',
  'status',
  'event',
  'writes',
  'nothingLeft',
  'api',
  'requests',
] as const;

/** What the schema cannot say. */
function checkSteps(document: Json): readonly Finding[] {
  const given = itemsAt(document, '/spec/given').flatMap((item) =>
    checkApplied(item.value, item.path),
  );
  const steps = mapsAt(document, '/spec/steps').flatMap(({ value, path }) => [
    ...applied(value, path).flatMap((item) => checkApplied(item.value, item.pointer)),
    ...mapsAt(document, `${path}/expect`).flatMap((item) =>
      checkExpectation(item.value, item.path),
    ),
    ...checkDelete(value, path),
    ...checkDenied(value, path),
  ]);
  return [...given, ...steps];
}

function checkApplied(value: unknown, path: string): readonly Finding[] {
  if (isJsonObject(value) && typeof value.file === 'string') return [];
  const missing = ['apiVersion', 'kind', 'metadata'].find(
    (field) => fieldOf(value as Json, field) === undefined,
  );
  if (missing === undefined) return [];
  const message = `Missing field "${missing}"`;
  const hint =
    'An object to apply has "apiVersion", "kind" and "metadata"; "file: PATH" applies a file';
  return [{ code: 'missing-field', path, message, hint }];
}

function checkExpectation(expectation: JsonObject, path: string): readonly Finding[] {
  const kinds = expectationKinds.filter((kind) => expectation[kind] !== undefined);
  if (kinds.length === 1) return checkExpectationCluster(expectation, path);
  const message = `Expected one of ${quotedList(expectationKinds)}, found ${kinds.length === 0 ? 'none' : quotedList(kinds)}`;
  return [{ code: 'invalid-value', path, message, hint: 'Each expectation is an item of its own' }];
}

function checkExpectationCluster(expectation: JsonObject, path: string): readonly Finding[] {
  const kind = (['writes', 'nothingLeft', 'api', 'requests'] as const).find(
    (each) => expectation[each] !== undefined,
  );
  if (expectation.cluster === undefined || kind === undefined) return [];
  const message = `"cluster" has no effect beside "${kind}"`;
  const isOfClusters = kind === 'writes' || kind === 'nothingLeft';
  const hint = isOfClusters ? `Remove it: "${kind}" is about all clusters` : 'Remove it';
  return [{ code: 'invalid-value', path: pointerTo(path, 'cluster'), at: 'key', message, hint }];
}

/** The schema checks the items of a list; one reference alone it does not. */
function checkDelete(step: JsonObject, path: string): readonly Finding[] {
  const { delete: target } = step;
  if (typeof target !== 'string' || /^[^/]+\/[^/]+(\/[^/]+)?$/.test(target)) return [];
  const message = `Expected an object as "Kind/name" or "Kind/namespace/name", found ${describeFound(target)}`;
  return [{ code: 'invalid-value', path: pointerTo(path, 'delete'), message }];
}

function checkDenied({ denied, apply, patch, delete: deleted }: JsonObject, path: string) {
  const isChange = [apply, patch, deleted].some((each) => each !== undefined);
  if (denied === undefined || isChange) return [];
  const message = '"denied" needs "apply", "patch" or "delete" in the same step';
  const finding: Finding = {
    code: 'invalid-value',
    path: pointerTo(path, 'denied'),
    at: 'key',
    message,
  };
  return [finding];
}

function applied(step: JsonObject, path: string) {
  const pointer = pointerTo(path, 'apply');
  const { apply } = step;
  if (apply === undefined) return [];
  if (!Array.isArray(apply)) return [{ value: apply, pointer }];
  return apply.map((value, index) => ({ value, pointer: pointerTo(pointer, index) }));
}

function testObjects(item: unknown, byDefault: string): TestObjects {
  const { cluster = byDefault, ...object } = item as JsonObject;
  const place = { cluster: String(cluster) };
  if (typeof object.file === 'string') return { ...place, file: object.file };
  return { ...place, object: object as unknown as KubeObject };
}

function resolveStep(step: JsonObject, pointer: string): TestStep {
  const { fail, outcome, patch, clusters, api, cluster = testHub } = step;
  const place = String(cluster);
  const names = (field: string) => [fieldOf(clusters ?? null, field) ?? []].flat().map(String);
  return {
    name: String(step.name),
    pointer,
    cluster: place,
    ...(clusters !== undefined && { clusters: { stop: names('stop'), start: names('start') } }),
    ...(isJsonObject(api) && { api: apiChangeOf(api) }),
    apply: applied(step, pointer).map(({ value }) => testObjects(value, place)),
    ...(patch !== undefined && { patch: patch as unknown as TestPatch }),
    delete: [step.delete ?? []].flat().map(String),
    ...(outcome !== undefined && { outcome: outcome as never }),
    ...(fail !== undefined && { fail: { times: 1, ...(fail as object) } as never }),
    ...(typeof step.denied === 'string' && { denied: step.denied }),
    advanceMs: timeOf(step.advance, 0),
    restart: step.restart === true,
    ...(typeof step.definition === 'string' && { definition: step.definition }),
    expect: mapsAt(step, '/expect').map((item) =>
      resolveExpectation(item.value, `${pointer}${item.path}`, place),
    ),
    withinMs: timeOf(step.within, 5_000),
  };
}

function timeOf(value: Json | undefined, byDefaultMs: number): number {
  return (typeof value === 'string' ? parseDurationMs(value) : undefined) ?? byDefaultMs;
}

function resolveExpectation(
  expectation: JsonObject,
  pointer: string,
  byDefault: string,
): Expectation {
  const at = { pointer, cluster: String(expectation.cluster ?? byDefault) };
  const kind = expectationKinds.find((each) => expectation[each] !== undefined) ?? 'nothingLeft';
  switch (kind) {
    case 'object':
    case 'absent':
      return { ...at, kind, [kind]: expectation[kind] } as unknown as Expectation;
    case 'condition':
    case 'event': {
      const { of, ...fields } = mapAt(expectation, `/${kind}`);
      return { ...at, kind, of: String(of), fields };
    }
    case 'status': {
      const { of, is } = mapAt(expectation, '/status');
      return { ...at, kind, of: String(of), is: isJsonObject(is) ? is : {} };
    }
    case 'writes':
      return { ...at, kind, count: expectation.writes ?? 0 };
    case 'api':
    case 'requests':
      return { ...at, kind, ...mapAt(expectation, `/${kind}`) } as unknown as Expectation;
    default:
      return { ...at, kind };
  }
}
