import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { ConversionWebhook } from '../support/conversion-webhook.ts';
import { conditionOf, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const version = (name: string, fields: string, isStored: boolean) => `
      - name: ${name}
        served: true
        storage: ${isStored}
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, properties: { ${fields} } }
              status: { type: object, properties: { text: { type: string } } }`;

const older = (isStored: boolean) => version('v1alpha1', 'size: { type: integer }', isStored);
const newer = version('v1', 'replicas: { type: integer }', true);

interface DialOptions {
  readonly name: string;
  readonly versions: string;
  /** `spec.replicas`, as an expression. */
  readonly value: string;
  /** `crd.conversion`, in flow style. @default none */
  readonly conversion?: string;
  readonly annotation?: string;
  readonly policy?: string;
}

function dialDefinition(options: DialOptions): string {
  const { name, versions, value, conversion, annotation = '{}', policy = '{}' } = options;
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  crdPolicy: ${policy}
  crd:
    metadata: { annotations: ${annotation} }
    group: ${name}.example.com
    names: { kind: Dial, plural: dials }
    scope: Namespaced${conversion === undefined ? '' : `\n    conversion: ${conversion}`}
    versions:${versions}
  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ ${value} }" }
  status: { text: "\${ ${value} }" }
`;
}

const crdPathOf = (name: string) =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dials.${name}.example.com`;
const definitionPathOf = (name: string) =>
  `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;

interface Conversion {
  readonly strategy: string;
  readonly webhook?: {
    readonly clientConfig: {
      readonly url?: string;
      readonly caBundle?: string;
      readonly service?: { readonly path?: string };
    };
  };
}

const conversionOf = (crd: KubeObject | undefined) =>
  (crd?.spec as { readonly conversion?: Conversion } | undefined)?.conversion;
const textOf = (object: KubeObject | undefined) =>
  (object?.data as { readonly text?: string } | undefined)?.text;

/** `spec.size` of v1alpha1 is `spec.replicas` of v1. */
function convertDial(object: KubeObject): KubeObject {
  const { size, replicas } = (object.spec ?? {}) as { size?: number; replicas?: number };
  const value = size ?? replicas;
  if (value === undefined) return object;
  return {
    ...object,
    spec: object.apiVersion.endsWith('/v1') ? { replicas: value } : { size: value },
  };
}

shared.describe('integration/conversion-webhook', () => {
  test('the certificates that another manager writes stay, and are removed with the webhook', async () => {
    const name = 'injected';
    const caBundle = ConversionWebhook.of(convertDial).caBundle;
    const annotation = '{ cert-manager.io/inject-ca-from: a/b }';
    const webhook = (path: string) =>
      `{ strategy: Webhook, webhook: { clientConfig: { service: { namespace: a, name: b, path: ${path} } }, conversionReviewVersions: [v1] } }`;
    const options = { name, versions: newer, value: 'spec.replicas' };
    const homeostat = await startHomeostat({
      'dial.yaml': dialDefinition({ ...options, annotation, conversion: webhook('/one') }),
    });
    const client = shared.client();
    const path = crdPathOf(name);
    assert.equal(conversionOf(await client.get(path))?.strategy, 'Webhook');
    await client.apply(
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `dials.${name}.example.com` },
        spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { caBundle } } } },
      },
      { fieldManager: 'cert-manager-cainjector', force: false },
    );
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(2_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);

    homeostat.write(
      'dial.yaml',
      dialDefinition({ ...options, annotation, conversion: webhook('/two') }),
    );
    const moved = await client.untilObject(
      path,
      (crd) => conversionOf(crd)?.webhook?.clientConfig.service?.path === '/two',
    );
    assert.equal(conversionOf(moved)?.webhook?.clientConfig.caBundle, caBundle);

    homeostat.write('dial.yaml', dialDefinition(options));
    const ended = await client.untilObject(path, (crd) => conversionOf(crd)?.strategy === 'None');
    assert.deepEqual(conversionOf(ended), { strategy: 'None' });
  });

  test('the second version comes with a webhook: resources are converted, whatever version they are written in', async (t) => {
    const name = 'converted';
    const webhook = ConversionWebhook.of(convertDial);
    await webhook.start();
    t.after(() => webhook.stop());
    const { url, caBundle } = webhook;
    const conversion = `{ strategy: Webhook, webhook: { clientConfig: { url: "${url}", caBundle: ${caBundle} }, conversionReviewVersions: [v1] } }`;
    const homeostat = await startHomeostat({
      'dial.yaml': dialDefinition({ name, versions: older(true), value: '$string(spec.size)' }),
    });
    const client = shared.client();
    const namespace = await shared.namespace();
    const pathOf = (of: string, dial: string) =>
      `/apis/${name}.example.com/${of}/namespaces/${namespace}/dials/${dial}`;
    const configOf = (dial: string) => `/api/v1/namespaces/${namespace}/configmaps/${dial}`;
    const dial = (of: string, dialName: string, spec: object) => ({
      apiVersion: `${name}.example.com/${of}`,
      kind: 'Dial',
      metadata: { name: dialName, namespace },
      spec,
    });
    await client.apply(dial('v1alpha1', 'first', { size: 3 }));
    const before = await client.untilObject(configOf('first'), (map) => textOf(map) === '3');

    homeostat.write(
      'dial.yaml',
      dialDefinition({
        name,
        versions: `${older(false)}${newer}`,
        value: "'v1 ' & $string(spec.replicas)",
        conversion,
      }),
    );
    const after = await client.untilObject(configOf('first'), (map) => textOf(map) === 'v1 3');
    assert.equal(after?.metadata.uid, before?.metadata.uid);
    assert.ok(webhook.calls > 0);
    await client.apply(dial('v1alpha1', 'second', { size: 4 }));
    await client.untilObject(configOf('second'), (map) => textOf(map) === 'v1 4');
    const read = await client.untilObject(
      pathOf('v1alpha1', 'second'),
      (object) => conditionOf(object)?.status === 'True',
    );
    assert.deepEqual([read?.spec, statusOf(read).text], [{ size: 4 }, 'v1 4']);
  });

  test('a webhook that fails is named in Ready of the definition, and work continues when it answers', async (t) => {
    const name = 'failing';
    const webhook = ConversionWebhook.of(convertDial);
    await webhook.start();
    t.after(() => webhook.stop());
    const { url, caBundle } = webhook;
    const conversion = `{ strategy: Webhook, webhook: { clientConfig: { url: "${url}", caBundle: ${caBundle} }, conversionReviewVersions: [v1] } }`;
    const client = shared.client();
    const namespace = await shared.namespace();
    const both = (isNewStored: boolean, value: string) =>
      dialDefinition({
        name,
        value,
        conversion,
        versions: isNewStored
          ? `${older(false)}${newer}`
          : `${older(true)}${newer.replace('storage: true', 'storage: false')}`,
      });
    const homeostat = await startHomeostat({ 'dial.yaml': both(false, '$string(spec.size)') });
    await client.apply({
      apiVersion: `${name}.example.com/v1alpha1`,
      kind: 'Dial',
      metadata: { name: 'one', namespace },
      spec: { size: 3 },
    });
    const config = `/api/v1/namespaces/${namespace}/configmaps/one`;
    await client.untilObject(config, (map) => textOf(map) === '3');

    // What is stored in the old version can be read in the new one only by the webhook.
    webhook.stop();
    homeostat.write('dial.yaml', both(true, "'v1 ' & $string(spec.replicas)"));
    const failing = await client.untilObject(definitionPathOf(name), (definition) =>
      /conversion webhook/.test(conditionOf(definition)?.message ?? ''),
    );
    const { status, message = '' } = conditionOf(failing) ?? {};
    assert.equal(status, 'False');
    assert.match(
      message,
      /The conversion webhook of Dial failed for failing\.example\.com\/v1alpha1: /,
    );
    assert.match(message, /connection refused/);
    const mark = shared.audit.mark();
    const failed = () =>
      shared.audit
        .entries({ since: mark })
        .filter(
          ({ resource, verb, status }) => resource === 'dials' && verb === 'list' && status >= 500,
        ).length;
    // It is tried again, and still reported in the same words.
    while (failed() < 3) await pause(100);
    await client.untilObject(
      definitionPathOf(name),
      (definition) => conditionOf(definition)?.message === message,
    );
    await webhook.start();
    await client.untilObject(config, (map) => textOf(map) === 'v1 3');
    await client.untilObject(
      definitionPathOf(name),
      (definition) => conditionOf(definition)?.status === 'True',
    );
  });
});
