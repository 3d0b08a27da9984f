import { test } from 'node:test';
import { ruled, smallRule, useAdmission } from '../support/admission.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { definitionPath } from '../support/definition-objects.ts';
import { conditionOf, textMap, thing } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import { hasReason, isReady } from '../support/installing.ts';
import { grantExactly, type Rule, runtimeRules } from '../support/rights/index.ts';

const user = 'ruler';
const shared = useControlPlane({ audit: true, users: [user] });
const startHomeostat = useHomeostat(shared);

const all = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const basics: readonly Rule[] = [
  ...runtimeRules,
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: all },
  { apiGroups: ['ruled.example.com'], resources: ['things', 'things/status'], verbs: all },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: all },
  { apiGroups: [''], resources: ['configmaps'], verbs: all },
];

const policies = 'validatingadmissionpolicies';
const bindings = 'validatingadmissionpolicybindings';

/** Rights on objects of admission, as `homeostat rights` prints them: writes only of those of the definition. */
function rights(resource: string, writes: readonly string[]): readonly Rule[] {
  const apiGroups = ['admissionregistration.k8s.io'];
  const resourceNames = ['ruled.homeostat.dev'];
  return [
    { apiGroups, resources: [resource], verbs: ['list', 'watch'] },
    { apiGroups, resources: [resource], resourceNames, verbs: ['get', ...writes] },
  ];
}

const of = (resource: string) => `${resource}\\.admissionregistration\\.k8s\\.io`;
const rule = (resource: string, verbs: string) =>
  `grant the rule \\{ apiGroups: \\["admissionregistration\\.k8s\\.io"\\], resources: \\["${resource}"\\], verbs: \\[${verbs}\\] \\}`;

/** The message about objects that may not be listed. */
function listing(resource: string): RegExp {
  return new RegExp(`not allowed to list ${of(resource)} .*${rule(resource, '"list", "watch"')}`);
}

/** The message about one object that may not be written. */
function writing(what: string, resource: string): RegExp {
  return new RegExp(
    `${what} "ruled\\.homeostat\\.dev": The runtime is not allowed to patch ${of(resource)} .*${rule(resource, '"create", "patch"')}`,
  );
}

shared.describe('integration/admission-rights', () => {
  const { untilEnforced } = useAdmission(shared);
  const allow = (...rules: readonly Rule[]) =>
    grantExactly(shared.client(), user, [...basics, ...rules]);

  /** Until `Ready` of the definition has this message. */
  const untilMissing = (message: RegExp) =>
    shared
      .client()
      .untilObject(
        definitionPath('ruled'),
        (each) =>
          hasReason(each, 'AdmissionNotReady') && message.test(conditionOf(each)?.message ?? ''),
      );

  /** Creates a Thing that breaks the rule, and waits for its child. */
  const createServed = async (namespace: string, name: string) => {
    await shared.client().apply(thing('ruled', namespace, { size: 11, text: 'a' }, name));
    const path = `/api/v1/namespaces/${namespace}/configmaps/${name}-text`;
    await shared.client().untilObject(path, (each) => each !== undefined);
  };

  test('each missing right for the policies is named in "Ready", the rest works, and the rules hold when it is granted', async () => {
    const namespace = await shared.namespace();
    await allow();
    const spec = `  children:${textMap('text')}\n`;
    await startHomeostat({ 'ruled.yaml': ruled('ruled', smallRule, { spec }) }, user);
    await untilMissing(listing(policies));
    await untilMissing(listing(bindings));
    await createServed(namespace, 'blind');

    await allow(...rights(policies, []), ...rights(bindings, []));
    await untilMissing(writing('policy', policies));
    await createServed(namespace, 'bound');

    const writes = ['create', 'patch', 'delete'];
    await allow(...rights(policies, writes), ...rights(bindings, []));
    await untilMissing(writing('^Forbidden: binding', bindings));

    await allow(...rights(policies, writes), ...rights(bindings, writes));
    await shared.client().untilObject(definitionPath('ruled'), isReady);
    await untilEnforced('ruled', namespace);
  });
});
