import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  checkDefinitions,
  definitionRights,
  type MergedRule,
  rolesYaml,
  runtimeRights,
} from '#check';
import { bundledPlural, bundledSchemas } from '#compile';
import { parseYaml, parseYamlDocuments } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { ApiServer } from '../support/http-objects/api-server.ts';
import { patienceMs } from '../support/patience.ts';
import { untilAllowed } from '../support/rights/access.ts';
import { auditedRequests } from '../support/rights/audited-request.ts';
import { isUsedBy, rightsOfRoles, rightText } from '../support/rights/granted-rule.ts';

const user = 'limited';
const shared = useControlPlane({ audit: true, users: [user] });
const launch = useRuntimes(shared);

/** An endpoint whose credentials are in a Secret and a ConfigMap, and an object whose answer is stored in a Secret. */
const definition = (auth: string) =>
  thingDefinition(
    'remote',
    `  children:
    - id: api
      template:
        apiVersion: homeostat.dev/v1alpha1
        kind: HttpEndpoint
        metadata: { name: api }
        spec: { url: "\${ spec.url }", auth: ${auth} }
    - id: token
      template:
        apiVersion: homeostat.dev/v1alpha1
        kind: HttpObject
        metadata: { name: token }
        spec:
          endpoint: { name: "\${ children.api.metadata.name }" }
          desired: { name: a }
          observe: { path: "/tokens/{id}", result: $(body.result) }
          find: { path: /tokens, results: $(body.result), match: [name] }
          create: { path: /tokens }
          delete: { path: "/tokens/{id}" }
          id: $(result.id)
          secret: { name: made, data: { token: $(body.result.token) } }
`,
  );

const basic =
  '{ basic: { usernameFrom: { configMapKeyRef: { name: user, key: name } }, passwordFrom: { secretKeyRef: { name: api, key: token } } } }';
const login =
  '{ login: { path: /login, jwtField: jwt, serviceAccount: { name: robot, audience: vault }, token: $(body.token) } }';

shared.describe('integration/http-rights', () => {
  let server: ApiServer;
  const client = () => shared.client();
  before(async () => {
    server = await ApiServer.start({
      note: () => shared.plane.time?.note(),
      collections: [
        { path: '/tokens', key: 'id', idBy: 'server', envelope: 'result', once: { token: 's3' } },
      ],
      answers: [
        { on: { path: '/login', method: 'POST' }, answer: { status: 200, body: { token: 't1' } } },
      ],
    });
  });
  after(() => server?.stop());

  /** Gives the user these rights, as `homeostat rights` prints them; returns the roles. */
  async function grant(name: string, rules: readonly MergedRule[]) {
    const serviceAccount = { namespace: 'default', name };
    const roles = parseYamlDocuments(
      rolesYaml({ name, serviceAccount, rules }),
    ) as unknown as readonly KubeObject[];
    const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
    for (const role of roles)
      await client().apply(role.kind.endsWith('Binding') ? { ...role, subjects } : role);
    const granted = roles.filter(({ kind }) => !kind.endsWith('Binding'));
    await untilAllowed(client(), user, rightsOfRoles(granted));
    return granted;
  }

  /** Serves a definition with the rights that are printed for it: a resource is created, edited and deleted. Returns the roles. */
  async function serve(text: string): Promise<readonly KubeObject[]> {
    const { accepted } = checkDefinitions([{ file: 'a.yaml', text }], {
      schemas: bundledSchemas(),
    });
    const plans = accepted.map(({ plan }) => plan);
    const { cluster } = runtimeRights({ leaseName: '' });
    await grant('runtime', cluster);
    const { rules, notes } = definitionRights(plans, bundledPlural);
    assert.deepEqual(notes, []);
    const roles = await grant('definition', rules);
    const homeostat = launch({
      user,
      flags: [
        ...['--sources', 'objects', '--runtime', 'limited', '--namespace', 'homeostat-test'],
        ...['--http-allow', `127.0.0.1:${server.port}`],
      ],
    });
    await client().untilList('/apis/homeostat.dev/v1alpha1/operatordefinitions', () => true);
    await client().apply(parseYaml(text) as unknown as KubeObject);
    await client().untilList('/apis/remote.example.com/v1/things', () => true);
    const namespace = await shared.namespace();
    const metadata = (name: string) => ({ metadata: { name, namespace } });
    for (const object of [
      { kind: 'ConfigMap', ...metadata('user'), data: { name: 'anna' } },
      { kind: 'Secret', ...metadata('api'), stringData: { token: 'p4ss' } },
      {
        kind: 'ServiceAccount',
        metadata: {
          ...metadata('robot').metadata,
          annotations: { 'homeostat.dev/http-login': 'api=vault' },
        },
      },
    ])
      await client().apply({ apiVersion: 'v1', ...object } as KubeObject);
    await client().patch(`/api/v1/namespaces/${namespace}`, {
      metadata: { labels: { 'homeostat.dev/http': 'true' } },
    });
    const path = thingPath('remote', namespace);
    await client().apply(thing('remote', namespace, { url: server.url }));
    await client().untilObject(path, (object) => conditionOf(object)?.status === 'True');
    const made = await client().get(`/api/v1/namespaces/${namespace}/secrets/made`);
    assert.deepEqual(made?.data, { token: btoa('s3') });
    const object = `/apis/homeostat.dev/v1alpha1/namespaces/${namespace}/httpobjects/token`;
    await client().delete(path);
    await client().untilGone(object);
    const definitionPath = '/apis/homeostat.dev/v1alpha1/operatordefinitions/remote';
    await client().delete(definitionPath);
    await client().untilGone(definitionPath);
    await homeostat.stop();
    return roles;
  }

  /** Resolves when the audit log shows that all rights of these roles were needed, but for some. */
  async function untilUsed(roles: readonly KubeObject[], exceptions: readonly RegExp[]) {
    const unused = () => {
      const requests = auditedRequests(shared.plane.auditFile ?? '', user);
      assert.deepEqual(
        requests.filter(({ isForbidden }) => isForbidden).map(({ verb, uri }) => `${verb} ${uri}`),
        [],
      );
      return rightsOfRoles(roles)
        .filter((right) => !requests.some((request) => isUsedBy(right, request)))
        .map(rightText)
        .filter((text) => !exceptions.some((each) => each.test(text)));
    };
    const deadline = performance.now() + patienceMs;
    while (unused().length > 0 && performance.now() < deadline) await client().sleep(100);
    assert.deepEqual(unused(), []);
  }

  const byChance = [
    // When somebody else has changed the metadata meanwhile.
    /get (?:httpendpoints|httpobjects|things)\.|get secrets .*\[api\]/,
    // By an admission plugin that is on in some distributions.
    /finalizers/,
    // Names of Services cannot be resolved here; test/attacks/http-outbound.test.ts reads them.
    /get services|list pods/,
    // For children: they have finalizers, and are deleted by the garbage collector.
    /delete (?:httpendpoints|httpobjects)\./,
  ];

  test('objects behind HTTP work with the rights that are printed for them, and need all of them', async () => {
    await untilUsed(await serve(definition(basic)), byChance);
  });

  test('a login requests tokens with the rights that are printed for it, and needs all of them', async () => {
    const roles = await serve(definition(login));
    const [request] = server.requests.filter(({ path }) => path === '/login');
    const { jwt } = JSON.parse(request?.body ?? '{}') as { readonly jwt?: string };
    const claims = JSON.parse(atob(jwt?.split('.')[1] ?? '')) as { readonly aud: unknown };
    assert.deepEqual(claims.aud, ['vault']);
    assert.ok(server.requests.some(({ headers }) => headers.authorization === 'Bearer t1'));
    await untilUsed(roles, byChance);
  });
});
