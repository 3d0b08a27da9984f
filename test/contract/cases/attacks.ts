import type { ContractCase, RequestStep } from '../driver/index.ts';
import {
  applyType,
  configMaps,
  get,
  mergeType,
  post,
  remove,
  strategicType,
  things,
} from './requests.ts';

/** So many maps within each other; the innermost value is a number. */
function nested(depth: number): string {
  return '{"a":'.repeat(depth) + 1 + '}'.repeat(depth);
}

/** As deep as the sandbox follows; as deep as the server reads; beyond. */
const [followed, read, beyond] = [900, 3_000, 10_001];
const configMapWith = (field: string) =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},${field}}`;
const thingWith = (field: string) =>
  `{"apiVersion":"$(group)/v1","kind":"Thing","metadata":{"name":"x"},"spec":{},${field}}`;
const headOfThing = '"apiVersion":"$(group)/v1","metadata":{"name":"x"}';
const yamlType = { 'content-type': 'application/yaml' };
const yamlWords = { message: 'wording of the YAML reader' };

function apply(path: string, body: string, expect: RequestStep['expect']): RequestStep {
  return { method: 'PATCH', path: `${path}?fieldManager=a`, body, headers: applyType, expect };
}

/** Nine lists, each of nine of the one before. */
const bomb = [
  'apiVersion: v1',
  'kind: ConfigMap',
  'metadata: { name: x }',
  `a: &a [${Array(9).fill('x').join(', ')}]`,
  ...['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name, at) => {
    const before = '*'.concat('abcdefgh'.charAt(at));
    return `${name}: &${name} [${Array(9).fill(before).join(', ')}]`;
  }),
].join('\n');

function rejectedPath(path: string, status: number, message?: RegExp): ContractCase {
  const expect = { status, ...(message === undefined ? {} : { message }) };
  return { name: `GET ${path} is ${status}`, steps: [get(path, expect)] };
}

/** Of a patch that cannot be read the server shows the whole object. */
const shown = { message: 'shows values down to its own depth', details: 'the same' };

function deepCase(depth: number): ContractCase {
  const [unknown, data] = [`"unknown":${nested(depth)}`, `"data":${nested(depth)}`];
  const cannot = /cannot unmarshal object into Go struct field ConfigMap.data of type string/;
  const patchX = (type: object, body: string, expect: RequestStep['expect']): RequestStep => ({
    method: 'PATCH',
    path: `${configMaps}/x`,
    body,
    headers: { ...type },
    expect,
  });
  return {
    name: `values ${depth} deep are read, and dropped where no schema has them`,
    steps: [
      post(configMaps, configMapWith(unknown), { status: 201, body: { unknown: null } }),
      post(configMaps, configMapWith(data), { status: 400, message: cannot }),
      post(things, thingWith(unknown), { status: 201, body: { unknown: null } }),
      post(
        configMaps,
        configMapWith(unknown).replace('"x"', '"z"'),
        { status: 201 },
        { headers: yamlType },
      ),
      apply(`${configMaps}/y`, configMapWith(unknown).replace('"x"', '"y"'), {
        status: 500,
        message: /\.unknown: field not declared in schema/,
      }),
      patchX(mergeType, `{${unknown}}`, { status: 200 }),
      patchX(strategicType, `{${unknown}}`, { status: 200 }),
      patchX(mergeType, `{${data}}`, { status: 422, differs: shown }),
      remove(`${configMaps}/x`, `{${unknown}}`, { status: 200 }),
    ],
  };
}

const notThere = /the server could not find the requested resource/;

export const attacks: readonly ContractCase[] = [
  ...[followed, read].map(deepCase),
  {
    name: 'deep values are kept where the schema keeps all',
    steps: [
      post(things, `{"kind":"Thing","spec":{"free":${nested(followed)}},${headOfThing}}`, {
        status: 201,
      }),
    ],
  },
  {
    name: 'values that are too deep are rejected, wherever they stand',
    steps: [
      post(configMaps, configMapWith(`"data":${nested(beyond)}`), {
        status: 400,
        message: /json parse error: invalid character '\{' exceeded max depth/,
      }),
      post(things, thingWith(`"other":${nested(beyond)}`), {
        status: 400,
        message: /must be of type Thing.*exceeded max depth/,
      }),
      post(
        configMaps,
        configMapWith(`"data":${nested(beyond)}`),
        { status: 400, message: /yaml: exceeded max depth of 10000/ },
        { headers: yamlType },
      ),
      apply(`${configMaps}/x`, configMapWith(`"data":${nested(beyond)}`), {
        status: 400,
        message: /error converting YAML to JSON: yaml: exceeded max depth of 10000/,
      }),
      post(configMaps, configMapWith('"data":{}'), { status: 201 }),
      {
        method: 'PATCH',
        path: `${configMaps}/x`,
        body: `{"data":${nested(beyond)}}`,
        headers: mergeType,
        expect: { status: 400, message: /error decoding patch: .*exceeded max depth/ },
      },
      {
        method: 'DELETE',
        path: `${configMaps}/x`,
        body: nested(beyond),
        expect: { status: 400, message: /couldn't get version\/kind.*exceeded max depth/ },
      },
    ],
  },
  {
    name: 'anchors of YAML are read, bombs of them are not',
    steps: [
      apply(
        `${configMaps}/x`,
        'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x }\ndata: { a: &a one, b: *a }',
        { status: 201, body: { data: { a: 'one', b: 'one' } } },
      ),
      apply(`${configMaps}/x`, bomb, { status: 400, differs: yamlWords }),
      post(configMaps, bomb, { status: 400, differs: yamlWords }, { headers: yamlType }),
    ],
  },
  {
    name: 'names that every object of JavaScript has are names like others',
    steps: [
      post(configMaps, configMapWith('"data":{"__proto__":"a","constructor":"b"}'), {
        status: 201,
      }),
      get(`${configMaps}/x`, { status: 200, body: { data: { constructor: 'b' } } }),
    ],
  },
  rejectedPath('/api/v1/namespaces/../secrets', 500, /invalid key: "\/secrets\/\.\."/),
  rejectedPath('/api/v1/namespaces/%2e%2e/secrets', 500, /invalid key/),
  rejectedPath(`${configMaps}/..`, 400, /Name parameter invalid: "\.\.": may not be '\.\.'/),
  rejectedPath(`${configMaps}/..%2f..%2fsecrets`, 404, notThere),
  rejectedPath('/api/v1/namespaces/default/./configmaps', 404, notThere),
  rejectedPath('/api//v1/pods', 404, notThere),
  rejectedPath('//api/v1/pods', 404),
  rejectedPath('/nothing', 404),
  rejectedPath(`${configMaps}/%zz`, 400),
  rejectedPath(`${configMaps}?fieldSelector=a%3Db%3Dc`, 400, /unescaped character in value: 61/),
  rejectedPath(`${configMaps}?labelSelector=a%20in%20(`, 400, /unable to parse requirement/),
  rejectedPath(`${configMaps}?labelSelector=a,,b`, 400),
  rejectedPath(`${configMaps}?limit=abc`, 400),
  rejectedPath(`${configMaps}?watch=1&timeoutSeconds=x`, 400),
];
