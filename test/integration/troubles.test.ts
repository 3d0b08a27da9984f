import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { untilStatus } from '../support/scrape.ts';

const user = 'unheard';
const shared = useControlPlane({ controllerManager: false, users: [user] });

const crds = { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'] };
const all = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const things = { apiGroups: ['troubles.example.com'], resources: ['things', 'things/status'] };
const events = { apiGroups: ['events.k8s.io'], resources: ['events'] };

/** Gives the user exactly these rights. */
async function allow(...resources: readonly (typeof things)[]): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io';
  const metadata = { name: user };
  const client = shared.client();
  const rules = [crds, things, ...resources].map((each) => ({ ...each, verbs: all }));
  const apiVersion = `${rbac}/v1`;
  await client.apply({ apiVersion, kind: 'ClusterRole', metadata, rules });
  await client.apply({
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: user },
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  });
}

const definitions = {
  'troubles.yaml': thingDefinition('troubles', '  status: { size: "${ $number(spec.size) }" }\n'),
};

shared.describe('integration/troubles', () => {
  test('Events that may not be written are told once and are a warning, until one is written', async () => {
    await allow();
    const namespace = await shared.namespace();
    const client = shared.client();
    const kubeconfig = shared.plane.kubeconfigPath(user);
    const homeostat = new HomeostatProcess({ kubeconfig, definitions });
    const fail = async (name: string) => {
      await client.apply(thing('troubles', namespace, { size: name }, name));
      await client.untilObject(
        thingPath('troubles', namespace, name),
        (object) => conditionOf(object)?.reason === 'RenderFailed',
      );
    };
    try {
      await homeostat.whenLogged('Definition running');
      await fail('one');
      const told = 'Events may not be written, going on without';
      assert.equal((await homeostat.whenLogged(told)).resource, 'events');
      const text = await untilStatus(homeostat, '/readyz?verbose', 200);
      assert.match(
        text,
        /^ {2}\[!\]Events are not written: The runtime may not create events\.events\.k8s\.io in namespace ".*"; a role needs the rule/m,
      );
      await allow(events);
      // The server hears of its roles a little later.
      for (
        let tries = 0;
        !homeostat.entries.some(({ msg }) => msg === 'Events are written again');
      )
        await fail(`again-${tries++}`);
      assert.doesNotMatch(await untilStatus(homeostat, '/readyz?verbose', 200), /Events/);
      assert.equal(homeostat.entries.filter(({ msg }) => msg === told).length, 1);
    } finally {
      await homeostat.stop();
    }
  });

  test('credentials that are not accepted are told as that, and all goes on when they are', async () => {
    const config = JSON.parse(shared.plane.kubeconfig('operator'));
    const good = JSON.stringify(config);
    config.users[0].user = { token: 'nobody-knows-me' };
    const kubeconfig = join(shared.plane.folder, 'refused.kubeconfig');
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    const homeostat = new HomeostatProcess({ kubeconfig, definitions });
    try {
      await homeostat.whenLogged('The API server does not accept our credentials');
      // Several parts ask for something: the definition may be told a little later than the log.
      await untilStatus(
        homeostat,
        '/readyz?verbose',
        503,
        /^\[-\]definitions failed: starting: troubles \(The API server does not accept our credentials\)$/m,
      );
      const late = await untilStatus(homeostat, '/readyz/api-server', 503);
      assert.match(late, /^\[-\]api-server failed: it has not accepted our credentials for \d+ s;/);
      writeFileSync(kubeconfig, good);
      const { lostForMs } = await homeostat.whenLogged('The API server answers again');
      assert.ok(Number(lostForMs) >= 15_000);
      const { troubledForMs } = await homeostat.whenLogged('Definition running');
      assert.ok(Number(troubledForMs) >= 15_000);
      await untilStatus(homeostat, '/readyz', 200);
    } finally {
      await homeostat.stop();
      rmSync(kubeconfig);
    }
  });
});
