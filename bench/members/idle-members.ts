// A process that plays many API servers with nothing in them: `/m17` is the address of member 17. Prints its port.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const bookmarkMs = 60_000;
const open = new Set<ServerResponse>();

const namespaceOf = (member: string) => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name: 'kube-system', uid: `uid-of-${member}`, resourceVersion: '1' },
});
const namespaces = {
  name: 'namespaces',
  singularName: 'namespace',
  namespaced: false,
  kind: 'Namespace',
  verbs: ['get', 'list', 'watch'],
};

function bodyOf(member: string, path: string): unknown {
  switch (path) {
    case '/version':
      return { gitVersion: 'v1.36.0' };
    case '/api':
      return { kind: 'APIVersions', versions: ['v1'] };
    case '/apis':
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: [] };
    case '/api/v1':
      return { kind: 'APIResourceList', groupVersion: 'v1', resources: [namespaces] };
    case '/api/v1/namespaces':
      return {
        kind: 'NamespaceList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '1' },
        items: [namespaceOf(member)],
      };
    case '/api/v1/namespaces/kube-system':
      return namespaceOf(member);
    default:
      return undefined;
  }
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
  const [, member = '', path = ''] = /^\/(m\d+)(\/.*)$/.exec(pathname) ?? [];
  response.setHeader('content-type', 'application/json');
  if (searchParams.get('watch') === '1') {
    response.flushHeaders();
    open.add(response);
    response.on('close', () => open.delete(response));
    return;
  }
  const body = bodyOf(member, path);
  response.statusCode = body === undefined ? 404 : 200;
  response.end(JSON.stringify(body ?? { kind: 'Status', code: 404, message: 'not found' }));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

setInterval(() => {
  const object = { kind: 'Namespace', apiVersion: 'v1', metadata: { resourceVersion: '1' } };
  for (const response of open) response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
}, bookmarkMs);
