import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import { itemsAt, type LocatedValue, mapAt, mapsAt, valueAt } from '../tree.ts';
import type { OperatorTest } from './operator-test.ts';

/** What a test says about the objects of its cluster, with the JSON pointer of each. */
export interface TestParts {
  /** Objects that are created: `given` and `apply`, without their field `cluster`. */
  readonly created: readonly LocatedValue<JsonObject>[];
  /** Objects that are named with some of their fields: `object` and `absent`. */
  readonly expected: readonly LocatedValue<JsonObject>[];
  /** Fields of the object of a reference: `merge`, and `is` of its status. */
  readonly fields: readonly (LocatedValue<JsonObject> & {
    /** `Kind/name` */
    readonly of: string;
    readonly isStatus: boolean;
  })[];
  /** `Kind/name` */
  readonly references: readonly LocatedValue<string>[];
  /** Paths of files and folders, relative to that of the test. */
  readonly files: readonly LocatedValue<string>[];
  /** Names of clusters. */
  readonly clusters: readonly LocatedValue<string>[];
  /** Expectations, which have matchers and expressions in place of values. */
  readonly expectations: readonly LocatedValue<Json>[];
}

/** The parts of a test that its schema cannot check. */
export function testParts({ document }: OperatorTest): TestParts {
  const steps = mapsAt(document, '/spec/steps');
  const applied = [
    ...mapsAt(document, '/spec/given'),
    ...steps.flatMap(({ path }) => oneOrMore(document, `${path}/apply`)),
  ];
  const expectations = steps.flatMap(({ path }) => mapsAt(document, `${path}/expect`));
  const patches = steps.filter(({ value }) => isJsonObject(value.patch));
  const ofExpectation = (field: string) =>
    expectations.flatMap(({ path }) => mapPart(document, `${path}/${field}`));
  const statuses = ofExpectation('status');
  return {
    created: applied.flatMap(({ value, path }) => {
      if (!isJsonObject(value) || value.file !== undefined) return [];
      const { cluster: _, ...object } = value;
      return [{ value: object, path }];
    }),
    expected: [...ofExpectation('object'), ...ofExpectation('absent')],
    fields: [
      ...patches.map(({ value, path }) => {
        const pointer = `${path}/patch/merge`;
        const of = String(mapAt(value, '/patch').target);
        return { value: mapAt(document, pointer), path: pointer, of, isStatus: false };
      }),
      ...statuses.map(({ value, path }) => {
        const pointer = `${path}/is`;
        return {
          value: mapAt(document, pointer),
          path: pointer,
          of: String(value.of),
          isStatus: true,
        };
      }),
    ],
    references: [
      ...patches.map(({ path }) => `${path}/patch/target`),
      ...steps.flatMap(({ path }) =>
        oneOrMore(document, `${path}/delete`).map((item) => item.path),
      ),
      ...[...ofExpectation('condition'), ...statuses, ...ofExpectation('event')].map(
        ({ path }) => `${path}/of`,
      ),
    ].flatMap((path) => textAt(document, path)),
    files: [
      ...itemsAt(document, '/spec/definitions').map(({ path }) => path),
      ...steps.map(({ path }) => `${path}/definition`),
      ...applied.map(({ path }) => `${path}/file`),
    ].flatMap((path) => textAt(document, path)),
    clusters: [
      ...[...applied, ...steps, ...expectations].map(({ path }) => `${path}/cluster`),
      ...steps.map(({ path }) => `${path}/fail/requests/cluster`),
      ...steps.flatMap(({ path }) =>
        ['stop', 'start'].flatMap((field) =>
          oneOrMore(document, `${path}/clusters/${field}`).map((item) => item.path),
        ),
      ),
    ].flatMap((path) => textAt(document, path)),
    expectations: expectations as readonly LocatedValue<Json>[],
  };
}

function oneOrMore(document: Json, path: string): readonly LocatedValue<unknown>[] {
  const value = valueAt(document, path);
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [{ value, path }];
  return value.map((item: unknown, index) => ({ value: item, path: pointerTo(path, index) }));
}

function mapPart(document: Json, path: string): readonly LocatedValue<JsonObject>[] {
  const value = valueAt(document, path);
  return isJsonObject(value) ? [{ value, path }] : [];
}

function textAt(document: Json, path: string): readonly LocatedValue<string>[] {
  const value = valueAt(document, path);
  return typeof value === 'string' ? [{ value, path }] : [];
}
