import type { ContractCase } from '../driver/index.ts';
import { configMap, configMaps, post, things } from './requests.ts';

const wording = { message: 'wording of the JSON reader' };

function broken(name: string, body: string): ContractCase {
  return {
    name: `${name} is refused`,
    steps: [
      post(configMaps, body, { status: 400, differs: wording }),
      post(things, body, { status: 400, differs: wording }),
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
  {
    name: 'an unknown media type is refused',
    steps: [
      post(
        configMaps,
        configMap({}),
        { status: 415, differs: { message: 'the sandbox reads fewer types' } },
        { headers: { 'content-type': 'text/plain' } },
      ),
      post(
        things,
        {},
        { status: 415, differs: { message: 'the sandbox reads fewer types' } },
        { headers: { 'content-type': 'text/plain' } },
      ),
    ],
  },
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
    name: 'methods that make no sense are refused',
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
