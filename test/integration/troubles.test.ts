import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { grantExactly, runtimeRules } from '../support/rights/index.ts';
import { untilStatus } from '../support/scrape.ts';

const user = 'unheard';
const shared = useControlPlane({ controllerManager: false, users: [user] });

const crds = { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'] };
const all = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const things = { apiGroups: ['troubles.example.com'], resources: ['things', 'things/status'] };
const events = { apiGroups: ['events.k8s.io'], resources: ['events'] };

/** Gives the user exactly these rights. */
async function allow(...resources: readonly (typeof things)[]): Promise<void> {
  const rules = [crds, things, ...resources].map((each) => ({ ...each, verbs: all }));
  await grantExactly(shared.client(), user, [...runtimeRules, ...rules]);
}

const definitions = {
  'troubles.yaml': thingDefinition('troubles', '  status: { size: "${ $number(spec.size) }" }\n'),
};

shared.describe('integration/troubles', () => {
  test('Events that may not be written are reported once and are a warning, until one is written', async () => {
    await allow(events);
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
      // Those of the definition itself stand in another namespace.
      await client.untilList('/apis/events.k8s.io/v1/namespaces/default/events', (items) =>
        items.some(
          ({ regarding }) => (regarding as { readonly name?: string }).name === 'troubles',
        ),
      );
      await allow();
      const reported = 'Events are denied, continuing without them';
      const isLogged = (message: string) => homeostat.entries.some(({ msg }) => msg === message);
      // The server takes notice of its roles a little later.
      for (let tries = 0; !isLogged(reported); tries++) await fail(`one-${tries}`);
      assert.equal((await homeostat.whenLogged(reported)).resource, 'events');
      const text = await untilStatus(homeostat, '/readyz?verbose', 200);
      assert.match(
        text,
        /^ {2}\[!\]Events cannot be written: The runtime is not allowed to create events\.events\.k8s\.io in namespace ".*"; grant the rule/m,
      );
      await allow(events);
      for (let tries = 0; !isLogged('Events are written again'); tries++)
        await fail(`again-${tries}`);
      assert.doesNotMatch(await untilStatus(homeostat, '/readyz?verbose', 200), /Events/);
      assert.equal(homeostat.entries.filter(({ msg }) => msg === reported).length, 1);
    } finally {
      await homeostat.stop();
    }
  });

  test('credentials that are not accepted are reported as that, and all continues when they are', async () => {
    const config = JSON.parse(shared.plane.kubeconfig('operator'));
    const good = JSON.stringify(config);
    config.users[0].user = { token: 'nobody-knows-me' };
    const kubeconfig = join(shared.plane.folder, 'rejected.kubeconfig');
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    const homeostat = new HomeostatProcess({ kubeconfig, definitions });
    try {
      await homeostat.whenLogged('The API server does not accept our credentials');
      // Several parts send requests: the definition may be reported a little later than the log.
      await untilStatus(
        homeostat,
        '/readyz?verbose',
        503,
        /^\[-\]definitions failed: not read yet: OperatorDefinition objects \(The API server rejects the credentials of the runtime\)$/m,
      );
      const late = await untilStatus(homeostat, '/readyz/api-server', 503);
      assert.match(late, /^\[-\]api-server failed: credentials rejected for \d+ s;/);
      writeFileSync(kubeconfig, good);
      const { lostForMs } = await homeostat.whenLogged('The API server responds again');
      assert.ok(Number(lostForMs) >= 15_000);
      await homeostat.whenLogged('Definition running');
      await untilStatus(homeostat, '/readyz', 200);
    } finally {
      await homeostat.stop();
      rmSync(kubeconfig);
    }
  });
});
