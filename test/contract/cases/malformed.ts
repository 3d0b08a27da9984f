import type { ContractCase, RequestStep } from '../driver/index.ts';
import { configMap, configMaps, post, thing, things } from './requests.ts';

const wording = { message: 'wording of the JSON reader' };

function broken(name: string, body: string): ContractCase {
  return {
    name: `${name} is rejected`,
    steps: [
      post(configMaps, body, { status: 400, differs: wording }),
      post(things, body, { status: 400, differs: wording }),
    ],
  };
}

/** Media types of bodies; what a creation, a patch, and a deletion answer. */
const sentTypes: Readonly<
  Record<string, readonly [create: number, patch: number, remove: number]>
> = {
  'text/plain': [415, 415, 415],
  'application/xml': [415, 415, 415],
  ';': [415, 415, 415],
  '*/*': [415, 415, 415],
  'APPLICATION/JSON': [201, 415, 200],
  'application/merge-patch+json': [415, 404, 415],
};

function sentAs([type, [create, patch, remove]]: [
  string,
  readonly [number, number, number],
]): ContractCase {
  const headers = { 'content-type': type };
  return {
    name: `bodies of the type "${type}"`,
    steps: [
      {
        method: 'POST',
        path: configMaps,
        body: configMap({}),
        headers,
        expect: { status: create },
      },
      { method: 'POST', path: things, body: thing({}), headers, expect: { status: create } },
      ...[configMaps, things].flatMap((path) => [
        { method: 'PATCH', path: `${path}/x`, body: {}, headers, expect: { status: patch } },
        { method: 'DELETE', path: `${path}/x`, body: {}, headers, expect: { status: remove } },
      ]),
    ],
  };
}

/** Media types of answers; what built-in kinds answer, and custom ones. */
const acceptedTypes: Readonly<Record<string, readonly [builtin: number, custom: number]>> = {
  'text/html': [406, 406],
  'application/cbor': [406, 406],
  ';;': [406, 406],
  'application/*': [406, 200],
  '*/*': [200, 200],
  'application/json;q=0': [200, 200],
  'image/png,application/json': [200, 200],
  'application/json;as=Nonsense;g=meta.k8s.io;v=v1': [406, 406],
};

function acceptedAs([accept, [builtin, custom]]: [
  string,
  readonly [number, number],
]): ContractCase {
  const asked = (path: string, status: number): RequestStep => ({
    method: 'GET',
    path,
    headers: { accept },
    expect: { status },
  });
  return {
    name: `answers of the type "${accept}"`,
    steps: [
      post(configMaps, configMap({}), { status: 201 }),
      post(things, thing({}), { status: 201 }),
      ...[configMaps, `${configMaps}/x`].map((path) => asked(path, builtin)),
      ...[things, `${things}/x`].map((path) => asked(path, custom)),
    ],
  };
}

export const malformed: readonly ContractCase[] = [
  broken('broken JSON', '{"kind":'),
  broken('an empty body', ''),
  broken('a list', '[]'),
  broken('a text', '"x"'),
  broken('a number', '7'),
  {
    name: 'null is an object without anything, for built-in kinds',
    steps: [post(configMaps, 'null', { status: 422 })],
  },
  broken('garbage', 'hello'),
  ...Object.entries(sentTypes).map(sentAs),
  ...Object.entries(acceptedTypes).map(acceptedAs),
  {
    name: 'parameters of a media type do not matter',
    steps: [
      post(
        configMaps,
        configMap({}),
        { status: 201 },
        { headers: { 'content-type': 'application/json; charset=utf-8' } },
      ),
    ],
  },
  {
    name: 'methods that make no sense are rejected',
    steps: [
      { method: 'PUT', path: configMaps, body: configMap({}), expect: { status: 405 } },
      { method: 'PATCH', path: configMaps, body: {}, expect: { status: 405 } },
      { method: 'POST', path: `${configMaps}/x`, body: configMap({}), expect: { status: 405 } },
    ],
  },
  {
    name: 'YAML bodies are read',
    steps: [
      post(
        configMaps,
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: "1"\n',
        { status: 201, body: { data: { a: '1' } } },
        { headers: { 'content-type': 'application/yaml' } },
      ),
      post(
        configMaps,
        'a: [',
        { status: 400, differs: { message: 'wording of the YAML reader' } },
        { headers: { 'content-type': 'application/yaml' } },
      ),
    ],
  },
];
