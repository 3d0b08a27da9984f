import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { objectsOf } from '../support/helm/index.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { runCli } from '../support/homeostat-process.ts';
import { isReady } from '../support/operator-suite.ts';
import { type Access, isAllowed, untilAllowed } from '../support/rights/access.ts';
import { auditedRequests } from '../support/rights/audited-request.ts';
import {
  type GrantedRight,
  type RoleObject,
  rightsOfRoles,
} from '../support/rights/granted-rule.ts';
import { isUsedBy, rightText } from '../support/rights/index.ts';
import { plainManifests } from '../support/rights/stage.ts';

const user = 'named';
const shared = useControlPlane({ audit: true, users: [user] });
const launch = useRuntimes(shared);
const flags = ['--namespace', 'homeostat-system'];

/** Reads two Secrets by names that it writes: one in the resource's own namespace, one in another. */
const definitionIn = (namespace: string) =>
  thingDefinition(
    'named',
    `  reads:
    - { id: own, apiVersion: v1, kind: Secret, name: settings }
    - { id: shared, apiVersion: v1, kind: Secret, name: shared, namespace: ${namespace}, crossNamespace: true }
  status:
    keys: \${ $count($keys(reads.own.data)) + $count($keys(reads.shared.data)) }
`,
  );

/** The roles of the runtime itself, without definitions. */
function ownRoles(): readonly KubeObject[] {
  const kinds = ['Namespace', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];
  return plainManifests().filter(
    ({ kind, metadata }) => kinds.includes(kind) && !metadata.name.endsWith('-examples'),
  );
}

/** Gives roles to the user of the runtime, whomever they are bound to. */
async function give(objects: readonly KubeObject[]): Promise<void> {
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
  for (const object of objects) {
    const isBinding = object.kind.endsWith('Binding');
    await shared.client().apply(isBinding ? { ...object, subjects } : object);
  }
  await untilAllowed(shared.client(), user, rightsIn(objects));
}

function rightsIn(objects: readonly KubeObject[]): readonly GrantedRight[] {
  return rightsOfRoles(objects.filter(({ kind }) => kind.endsWith('Role')));
}

const allows = (right: Access) => isAllowed(shared.client(), user, right);

function withoutSecrets(object: KubeObject): KubeObject {
  const left = (object as RoleObject).rules.filter(
    ({ resources }) => !resources.includes('secrets'),
  );
  return { ...object, rules: left } as KubeObject;
}

shared.describe('integration/rights-by-name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-rights-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let elsewhere: string;
  let definitions: Readonly<Record<string, string>>;
  let printed: readonly KubeObject[];

  before(async () => {
    elsewhere = await shared.namespace();
    definitions = { 'named.yaml': definitionIn(elsewhere) };
    const file = join(folder, 'named.yaml');
    writeFileSync(file, definitionIn(elsewhere));
    const { code, stdout } = await runCli('rights', file, '--name', 'named');
    assert.equal(code, 0);
    printed = objectsOf(stdout);
    await give([...ownRoles(), ...printed]);
    await makeSecret(elsewhere, 'shared', 'a');
  });

  async function makeSecret(namespace: string, name: string, ...keys: readonly string[]) {
    const data = Object.fromEntries(keys.map((key) => [key, 'YQ==']));
    const metadata = { name, namespace };
    await shared.client().apply({ apiVersion: 'v1', kind: 'Secret', metadata, data });
  }

  function untilKeys(namespace: string, keys: number) {
    const path = thingPath('named', namespace);
    return shared
      .client()
      .untilObject(path, (object) => isReady(object) && statusOf(object).keys === keys);
  }

  test('a definition that reads Secrets by written names may read no others', async () => {
    const client = shared.client();
    const homeostat = launch({ user, flags, definitions });
    await homeostat.whenReady();
    const places = [await shared.namespace()];
    const [first = ''] = places;
    await makeSecret(first, 'settings', 'a');
    await client.apply(thing('named', first, {}));
    await untilKeys(first, 2);
    await makeSecret(first, 'settings', 'a', 'b');
    await makeSecret(elsewhere, 'shared', 'a', 'b');
    await untilKeys(first, 4);
    // So many are watched by their name in the whole cluster.
    while (places.length < 52) places.push(await shared.namespace());
    for (const place of places.slice(1)) {
      await makeSecret(place, 'settings', 'a');
      await client.apply(thing('named', place, {}));
    }
    for (const place of places.slice(1)) await untilKeys(place, 3);
    await makeSecret(first, 'settings', 'a', 'b', 'c');
    await untilKeys(first, 5);
    await homeostat.stop();

    const secrets = rightsIn(printed).filter(({ resource }) => resource === 'secrets');
    assert.deepEqual(
      secrets.map(({ verb, names, namespace }) => [verb, names, namespace]),
      [
        ['list', ['settings'], undefined],
        ['watch', ['settings'], undefined],
        ['list', ['shared'], elsewhere],
        ['watch', ['shared'], elsewhere],
      ],
    );
    const other = { apiGroup: '', resource: 'secrets', verb: 'list' };
    assert.equal(await allows(other), false);
    assert.equal(await allows({ ...other, names: ['shared'] }), false);
    const requests = auditedRequests(shared.plane.auditFile ?? '', user);
    const forbidden = requests.filter(({ isForbidden }) => isForbidden);
    assert.deepEqual(
      forbidden.map(({ verb, uri, message }) => `${verb} ${uri}: ${message}`),
      [],
    );
    const unused = secrets.filter((right) => !requests.some((each) => isUsedBy(right, each)));
    assert.deepEqual(unused.map(rightText), []);
    const isWide = requests.some(
      ({ resource, namespace, name }) =>
        resource === 'secrets' && namespace === '' && name === 'settings',
    );
    assert.ok(isWide);
  });

  test('names that are computed need rights in the named namespaces only, for many objects, too', async () => {
    const client = shared.client();
    const home = await shared.namespace();
    const text = thingDefinition(
      'confined',
      `  controller: { namespaces: { include: [${home}] } }
  reads:
    - { id: found, apiVersion: v1, kind: Secret, name: "\${ [spec.names] }" }
    - { id: literal, apiVersion: v1, kind: Secret, name: [b, a], namespace: ${elsewhere}, crossNamespace: true }
  status:
    keys: \${ $count(reads.found.data.*) + 100 * $count(reads.literal) }
`,
    );
    const file = join(folder, 'confined.yaml');
    writeFileSync(file, text);
    const { code, stdout, stderr } = await runCli('rights', file, '--name', 'confined');
    assert.equal(code, 0);
    assert.equal(
      stderr.trim(),
      `note: confined: its read "found": the names are computed, so the rule is for all secrets in ${home}; a rule with those in use as "resourceNames" is sufficient`,
    );
    const roles = objectsOf(stdout);
    const secrets = rightsIn(roles).filter(({ resource }) => resource === 'secrets');
    assert.deepEqual(
      secrets.map(({ verb, names, namespace }) => [verb, names, namespace]),
      [
        ['list', undefined, home],
        ['watch', undefined, home],
        ['list', ['b', 'a'], elsewhere],
        ['watch', ['b', 'a'], elsewhere],
      ].toSorted(([, , a], [, , b]) => (String(a) < String(b) ? -1 : Number(a !== b))),
    );
    await give(roles);
    const names = Array.from({ length: 60 }, (_, index) => `s${index}`);
    for (const name of names) await makeSecret(home, name, 'a');
    for (const name of ['a', 'b']) await makeSecret(elsewhere, name, 'a');
    const homeostat = launch({ user, flags, definitions: { 'confined.yaml': text } });
    await homeostat.whenReady();
    await client.apply(thing('confined', home, { names: names.slice(0, 3) }));
    const until = (keys: number) =>
      client.untilObject(thingPath('confined', home), (object) => statusOf(object).keys === keys);
    await until(203);
    await client.patch(thingPath('confined', home), { spec: { names } });
    await until(260);
    await makeSecret(home, 's59', 'a', 'b');
    await until(261);
    await homeostat.stop();
    const requests = auditedRequests(shared.plane.auditFile ?? '', user);
    const others = requests.filter(
      ({ resource, namespace }) => resource === 'secrets' && ![home, elsewhere].includes(namespace),
    );
    assert.deepEqual(
      others.filter(({ uri }) => !uri.includes('metadata.name')).map(({ uri }) => uri),
      [],
    );
    assert.equal(await allows({ apiGroup: '', resource: 'secrets', verb: 'list' }), false);
  });

  test('without the right the message names the object, and all continues when exactly that is given', async () => {
    const client = shared.client();
    const roles = printed.filter(({ kind }) => kind.endsWith('Role'));
    for (const role of roles) await client.apply(withoutSecrets(role));
    for (const right of rightsIn(printed))
      while (right.resource === 'secrets' && (await allows(right))) await client.sleep(50);
    const homeostat = launch({ user, flags, definitions });
    const place = await shared.namespace();
    await makeSecret(place, 'settings', 'a');
    await client.apply(thing('named', place, {}));
    const reported = await client.untilObject(
      thingPath('named', place),
      (object) => conditionOf(object)?.reason === 'Forbidden',
    );
    assert.match(
      conditionOf(reported)?.message ?? '',
      /grant the rule \{ apiGroups: \[""\], resources: \["secrets"\], resourceNames: \["settings"\], verbs: \["list", "watch"\] \}/,
    );
    await give(printed);
    await client.untilObject(thingPath('named', place), isReady);
    await homeostat.stop();
  });
});
