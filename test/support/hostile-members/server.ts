// A process that plays three hostile API servers below `/version`, `/lines` and `/nested`. Prints its port.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const megabyte = 1_048_576;
const maps = '{},'.repeat(megabyte / 3);
const piece = 'x'.repeat(65_536);
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const resources = {
  '/api/v1': [
    { name: 'namespaces', kind: 'Namespace' },
    { name: 'configmaps', kind: 'ConfigMap' },
  ],
  '/apis/apiextensions.k8s.io/v1': [
    { name: 'customresourcedefinitions', kind: 'CustomResourceDefinition' },
  ],
  '/apis/coordination.k8s.io/v1': [{ name: 'leases', kind: 'Lease' }],
};
const verbs = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

const namespaceOf = (member: string, version: number) =>
  `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":"00000000-0000-4000-8000-${hexOf(member)}","resourceVersion":"${version}"}}`;

function hexOf(member: string): string {
  return Buffer.from(member).toString('hex').slice(0, 12).padEnd(12, '0');
}

/** Sends texts as fast as they are read, until the client closes the connection or there is none left. */
async function send(response: ServerResponse, texts: Iterable<string>): Promise<void> {
  for (const text of texts) {
    if (response.destroyed) return;
    if (!response.write(text)) await untilDrained(response);
  }
  response.end();
}

function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

function* many(count: number, text: (index: number) => string): Generator<string> {
  for (let index = 0; index < count; index++) yield text(index);
}

/** Answers a watch: events without a pause, lines without an end, and values nested deep. */
function watched(member: string, path: string): Iterable<string> {
  if (member === 'lines' && path === '/api/v1/namespaces')
    return many(1e9, (index) => `{"type":"MODIFIED","object":${namespaceOf(member, index + 2)}}\n`);
  if (member === 'lines') return many(1e9, () => piece);
  return many(1e9, () => `{"type":"ADDED","object":{"metadata":${nested(9_000)}}}\n`);
}

/** A list that is too large, and values nested deep. */
function answered(member: string): Iterable<string> {
  if (member === 'lines') return many(15, (index) => (index === 0 ? `{"a":[${maps}` : maps));
  return many(200, () => nested(9_000));
}

/** Sends one byte after the other. */
function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), 100);
  response.on('close', () => clearInterval(timer));
}

/** What shows the identity and the kinds of a member. */
function knownBody(member: string, path: string): string | undefined {
  switch (path) {
    case '/version':
      return '{"gitVersion":"v1.36.0"}';
    case '/api/v1/namespaces/kube-system':
      return namespaceOf(member, 1);
    case '/api/v1/namespaces':
      return `{"metadata":{"resourceVersion":"1"},"items":[${namespaceOf(member, 1)}]}`;
    case '/api':
      return '{"kind":"APIVersions","versions":["v1"]}';
    case '/apis':
      return '{"kind":"APIGroupList","apiVersion":"v1","groups":[]}';
    default:
      return kindsAt(path);
  }
}

function kindsAt(path: string): string | undefined {
  const types = Object.entries(resources).find(([prefix]) => prefix === path)?.[1];
  if (types === undefined) return undefined;
  return JSON.stringify({
    kind: 'APIResourceList',
    groupVersion: path.replace(/^\/apis?\//, ''),
    resources: types.map((type) => ({ ...type, namespaced: true, verbs })),
  });
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
  const [, member = '', path = ''] = /^\/(version|lines|nested)(\/.*)$/.exec(pathname) ?? [];
  response.setHeader('content-type', 'application/json');
  request.resume();
  const known = knownBody(member, path);
  if (member === 'version')
    void send(
      response,
      many(16, () => maps),
    );
  else if (searchParams.get('watch') !== null) void send(response, watched(member, path));
  else if (known !== undefined) response.end(known);
  else if (
    path === '/apis/apiextensions.k8s.io/v1/customresourcedefinitions' &&
    member === 'nested'
  )
    drip(response);
  else void send(response, answered(member));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
