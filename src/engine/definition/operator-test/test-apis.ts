import { parseDurationMs } from '#util/duration.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import {
  booleanSchema,
  durationSchema,
  enumSchema,
  integerSchema,
  type JsonSchema,
  listSchema,
  mapSchema,
  objectSchema,
  stringSchema,
} from '../schema/json-schema.ts';
import { mapsAt, quotedList } from '../tree.ts';

/** A simulated HTTP API of a test: what `HttpObject`s are sent to in place of a network. */
export interface TestHttpApi {
  /** Name in steps and expectations. */
  readonly name: string;
  /** Origin and base path, as in the `HttpEndpoint`. */
  readonly url: string;
  readonly collections: readonly TestCollection[];
  /** Take precedence over collections, in order. */
  readonly answers: readonly TestAnswer[];
}

/** A collection of objects, as JSON APIs serve them. */
export interface TestCollection {
  /** Below the URL. */
  readonly path: string;
  /** Field with the key of an object. */
  readonly key: string;
  readonly idBy: 'server' | 'client';
  readonly hidden?: readonly string[];
  readonly envelope?: string;
  readonly listEnvelope?: string;
  readonly unique?: readonly string[];
  readonly upsert?: { readonly path: string; readonly field: string };
  readonly once?: Readonly<Record<string, Json>>;
  /** Objects that exist before the test. @default none */
  readonly objects?: readonly JsonObject[];
}

/** The answer to requests with a method and a path. */
export interface TestAnswer {
  /** Not `on`: YAML 1.1 reads it as `true`. */
  readonly request: TestRequests;
  readonly answer: {
    readonly status: number;
    readonly body?: Json;
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** @default always */
  readonly times?: number;
}

interface TestRequests {
  readonly method?: string;
  readonly path: string;
}

/** What a step does to a simulated API. */
export interface TestApiChange {
  /** Undefined: the only one. */
  readonly name?: string;
  /** No connection is accepted for this time, in ms. */
  readonly downMs?: number;
  readonly fail?: TestApiFailure;
  /** By path of a collection: objects that others create or replace. */
  readonly put: Readonly<Record<string, readonly JsonObject[]>>;
  /** By path of a collection: keys of objects that others delete. */
  readonly remove: Readonly<Record<string, readonly string[]>>;
}

/** Requests that the API answers with an error, or whose answers are lost. */
export interface TestApiFailure {
  readonly requests: Partial<TestRequests>;
  /** Undefined: the request has its effect, and the answer is lost. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly times: number;
}

/** What a simulated API must have, and the requests that it must have got. */
export type ApiExpectation =
  | {
      readonly kind: 'api';
      readonly name?: string;
      readonly path: string;
      /** All objects of the collection, with at least these fields. */
      readonly objects: readonly Json[];
    }
  | {
      readonly kind: 'requests';
      readonly name?: string;
      readonly method?: string;
      readonly path?: string;
      readonly body?: Json;
      /** Since the step began. A number, or a matcher. @default at least one */
      readonly count?: Json;
    };

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const method = enumSchema('Method. Default: any.', methods);
const apiName = stringSchema('Name of the simulated API. Default: the only one.');
const path = (description: string): JsonSchema =>
  stringSchema(description, {
    pattern: '^/',
    title: 'a path below the URL',
    examples: ['/records'],
  });
const anyValue: JsonSchema = { description: 'A value, or a matcher such as `$match`.' };
const object: JsonSchema = { type: 'object', description: 'An object.' };
const headers = mapSchema('Headers of the answer.', stringSchema('Value.'));
const status = { ...integerSchema('HTTP status of the answer.'), minimum: 200, maximum: 599 };
const times = { ...integerSchema('How often. Default: 1.'), minimum: 1 };

/** The schema of `spec.apis`. */
export const testApisSchema: JsonSchema = listSchema(
  'Simulated HTTP APIs: objects of kind `HttpObject` are sent to them, by the URL of their `HttpEndpoint`. No request leaves the process.',
  objectSchema(
    'A simulated HTTP API.',
    {
      name: stringSchema('Name in steps and expectations. Needed with several APIs.'),
      url: stringSchema('Origin and base path, as in the `HttpEndpoint`.', {
        examples: ['http://grafana.default.svc:3000/api'],
      }),
      collections: listSchema(
        'Collections of objects. They answer GET, POST, PUT, PATCH and DELETE.',
        objectSchema(
          'A collection.',
          {
            path: path('Path of the collection.'),
            key: stringSchema('Field with the key of an object, the last segment of its path.', {
              examples: ['id'],
            }),
            idBy: {
              ...enumSchema('Who chooses the key.', ['server', 'client']),
              default: 'server',
            },
            hidden: listSchema('Fields that are never returned.', stringSchema('Field.')),
            envelope: stringSchema('Field of answers with the object or list. Default: none.'),
            listEnvelope: stringSchema(
              'Field of answers with a list, such as `items`. Default: `envelope`.',
            ),
            unique: listSchema(
              'Fields that differ in all objects; a second one is a conflict (409).',
              stringSchema('Field.'),
            ),
            upsert: objectSchema(
              'Another path whose POST creates or replaces an object, which is in a field of the body.',
              { path: path('Path.'), field: stringSchema('Field of the body with the object.') },
              ['path', 'field'],
            ),
            once: {
              type: 'object',
              description: 'Fields that only the answer to the POST has, such as a token.',
            },
            objects: listSchema('Objects that exist before.', object),
          },
          ['path', 'key'],
        ),
      ),
      answers: listSchema(
        'Fixed answers, which take precedence over collections.',
        objectSchema(
          'The answer to some requests.',
          {
            request: objectSchema('Which requests.', { method, path: path('Path.') }, ['path']),
            answer: objectSchema(
              'The answer.',
              { status, headers, body: { description: 'A JSON value, or a text.' } },
              ['status'],
            ),
            times: { ...times, description: 'How often it is used. Default: always.' },
          },
          ['request', 'answer'],
        ),
      ),
    },
    ['url'],
  ),
);

/** The schema of `api` of a step. */
export const apiChangeSchema: JsonSchema = objectSchema('What happens to a simulated HTTP API.', {
  name: apiName,
  down: durationSchema('Time for which it accepts no connection.'),
  fail: objectSchema('Requests that it answers with an error, or whose answers are lost.', {
    requests: objectSchema('Which requests. Default: all.', { method, path: path('Path.') }),
    status,
    lostAnswer: booleanSchema('The request has its effect, and the answer is lost.'),
    headers,
    body: { description: 'A JSON value, or a text.' },
    times,
  }),
  put: mapSchema(
    'By path of a collection: objects that others create or change there.',
    listSchema('Objects.', object),
  ),
  remove: mapSchema(
    'By path of a collection: keys of objects that others delete there.',
    listSchema('Keys.', stringSchema('A key.')),
  ),
});

/** The schemas of expectations about simulated APIs. */
export const apiExpectationSchemas: Readonly<Record<ApiExpectation['kind'], JsonSchema>> = {
  api: objectSchema(
    'All objects of a collection of a simulated API, in any order.',
    {
      name: apiName,
      path: path('Path of the collection.'),
      objects: listSchema('The objects, with at least these fields.', anyValue),
    },
    ['path', 'objects'],
  ),
  requests: objectSchema('Requests to a simulated API since the step began.', {
    name: apiName,
    method,
    path: path('Path, without the query. Default: any.'),
    body: { description: 'Fields of the body.' },
    count: { description: 'How many: a number or a matcher. Default: at least one.' },
  }),
};

/** The APIs of a document at a pointer. */
export function testApisOf(document: Json, pointer: string): readonly TestHttpApi[] {
  return mapsAt(document, pointer).map(({ value }) => {
    const { name, url, collections = [], answers = [] } = value;
    return {
      name: String(name ?? ''),
      url: String(url),
      collections: (collections as unknown as readonly TestCollection[]).map((each) => ({
        ...each,
        idBy: each.idBy ?? 'server',
      })),
      answers: answers as unknown as readonly TestAnswer[],
    };
  });
}

export function apiChangeOf(change: JsonObject): TestApiChange {
  const { name, down, fail, put = {}, remove = {} } = change;
  const downMs = typeof down === 'string' ? parseDurationMs(down) : undefined;
  return {
    ...(name !== undefined && { name: String(name) }),
    ...(downMs !== undefined && { downMs }),
    ...(isJsonObject(fail) && { fail: apiFailureOf(fail) }),
    put: put as unknown as TestApiChange['put'],
    remove: remove as unknown as TestApiChange['remove'],
  };
}

function apiFailureOf({ lostAnswer: _, ...fail }: JsonObject): TestApiFailure {
  return { requests: {}, times: 1, ...fail } as unknown as TestApiFailure;
}

/** Names of APIs that do not exist, and what the schema cannot say. */
export function checkApis(document: Json): readonly Finding[] {
  const apis = mapsAt(document, '/spec/apis');
  const names = apis.map(({ value }) => String(value.name ?? ''));
  return [
    ...apis.flatMap(({ path: at }, index) => duplicateName(names, index, at)),
    ...mapsAt(document, '/spec/steps').flatMap(({ value, path: at }) => [
      ...(isJsonObject(value.api) ? checkChange(value.api, pointerTo(at, 'api'), names) : []),
      ...mapsAt(document, `${at}/expect`).flatMap((item) =>
        (['api', 'requests'] as const).flatMap((field) => {
          const expected = item.value[field];
          return isJsonObject(expected)
            ? checkName(expected, pointerTo(item.path, field), names)
            : [];
        }),
      ),
    ]),
  ];
}

function duplicateName(names: readonly string[], index: number, at: string): readonly Finding[] {
  if (names.length === 1) return [];
  const name = names[index] ?? '';
  if (name === '')
    return [{ code: 'missing-field', path: at, message: 'Several APIs need a "name" each' }];
  if (names.indexOf(name) === index) return [];
  return [
    {
      code: 'duplicate-id',
      path: pointerTo(at, 'name'),
      message: `Another API has the name "${name}"`,
    },
  ];
}

function checkChange(change: JsonObject, at: string, names: readonly string[]): readonly Finding[] {
  const { fail } = change;
  const isVague = isJsonObject(fail) && (fail.status === undefined) === (fail.lostAnswer !== true);
  return [
    ...checkName(change, at, names),
    ...(isVague
      ? [
          {
            code: 'invalid-value' as const,
            path: pointerTo(at, 'fail'),
            message: 'Expected either "status" or "lostAnswer: true"',
          },
        ]
      : []),
  ];
}

function checkName({ name }: JsonObject, at: string, names: readonly string[]): readonly Finding[] {
  if (names.length === 0)
    return [
      {
        code: 'unknown-name',
        path: at,
        at: 'key',
        message: 'The test has no simulated API',
        hint: 'Add one to "spec.apis"',
      },
    ];
  if (name === undefined && names.length === 1) return [];
  if (names.includes(String(name))) return [];
  return [
    {
      code: 'unknown-name',
      path: name === undefined ? at : pointerTo(at, 'name'),
      message:
        name === undefined
          ? `Expected the "name" of one of the APIs: ${quotedList(names)}`
          : `There is no simulated API "${String(name)}"`,
      hint: name === undefined ? undefined : `Known: ${names.join(', ')}`,
    },
  ];
}
