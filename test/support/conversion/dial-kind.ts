import { type ConversionRules, digestOf, writeRules } from '#conversion';
import { caBundleOf, type WebhookAddress, webhookClientConfig } from '#conversion-webhook';
import { encodeBase64 } from '#util/base64.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation, webhookSecretName } from '#util/stored-names.ts';
import type { PlaneClient } from '../control-plane/index.ts';

/** `spec.size` of v1alpha1 is `spec.replicas` of v1. */
export const dialRules: ConversionRules = {
  hub: 'v1',
  versions: [
    { version: 'v1alpha1', fields: [{ here: 'spec.size', there: 'spec.replicas' }], drop: [] },
  ],
};
const digest = digestOf(dialRules);

/** A kind with two versions, whose group has the name of a namespace. */
export class DialKind {
  readonly name: string;
  readonly group: string;
  readonly #client: PlaneClient;
  readonly #namespace: string;
  readonly #address: WebhookAddress;

  constructor(client: PlaneClient, namespace: string, address: WebhookAddress) {
    this.#client = client;
    this.#namespace = namespace;
    this.#address = address;
    this.group = `${namespace}.example.com`;
    this.name = `dials.${this.group}`;
  }

  /** Path of the CRD. */
  get path(): string {
    return `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${this.name}`;
  }

  get #secretPath(): string {
    return `/api/v1/namespaces/${this.#namespace}/secrets/${webhookSecretName}`;
  }

  /** The path of objects in a version: `v1`. */
  objects(version: string, name?: string): string {
    const list = `/apis/${this.group}/${version}/namespaces/${this.#namespace}/dials`;
    return name === undefined ? list : `${list}/${name}`;
  }

  dial(version: string, name: string, spec: object): KubeObject {
    const metadata = { name, namespace: this.#namespace };
    return { apiVersion: `${this.group}/${version}`, kind: 'Dial', metadata, spec };
  }

  /** Installs the CRD, with the bundle of the Secret unless another one is given. */
  async install(caBundle?: string): Promise<void> {
    const bundle = caBundle ?? (await this.bundle());
    await this.#client.installCrd(this.crd(bundle));
  }

  crd(caBundle: string, digestInPath = digest): KubeObject {
    const clientConfig = {
      ...webhookClientConfig(this.#address, this.name, digestInPath),
      caBundle: encodeBase64(caBundle),
    };
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: this.name,
        annotations: { [conversionsAnnotation]: writeRules(dialRules) },
        labels: { 'homeostat.dev/definition': 'dial' },
      },
      spec: {
        group: this.group,
        names: { kind: 'Dial', plural: 'dials', singular: 'dial', listKind: 'DialList' },
        scope: 'Namespaced',
        versions: [versionOf('v1alpha1', 'size', false), versionOf('v1', 'replicas', true)],
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig, conversionReviewVersions: ['v1'] },
        },
      },
    };
  }

  /** What clients trust by the Secret, once there is one. */
  async bundle(): Promise<string> {
    const found = await this.#client.untilObject(
      this.#secretPath,
      (secret) => secret !== undefined && caBundleOf(secret) !== undefined,
    );
    return found === undefined ? '' : (caBundleOf(found) ?? '');
  }

  /** Waits for a state of the Secret. */
  untilSecret(predicate: (data: Readonly<Record<string, string>>) => boolean) {
    return this.#client.untilObject(this.#secretPath, (secret) => {
      const data = (secret?.data ?? {}) as Readonly<Record<string, string>>;
      return secret !== undefined && predicate(data);
    });
  }

  deleteSecret(): Promise<void> {
    return this.#client.delete(this.#secretPath);
  }

  /** Does what the leader does, until the signal aborts: what is trusted follows the Secret. */
  async lead(signal: AbortSignal): Promise<void> {
    const list = `/api/v1/namespaces/${this.#namespace}/secrets?fieldSelector=metadata.name%3D${webhookSecretName}`;
    let writing = Promise.resolve();
    const write = async (bundle: string) => {
      const webhook = { clientConfig: { caBundle: encodeBase64(bundle) } };
      await this.#client.patch(this.path, { spec: { conversion: { webhook } } });
    };
    await this.#client
      .follow({
        path: list,
        signal,
        onState: ([secret]) => {
          const bundle = secret && caBundleOf(secret);
          if (bundle !== undefined) writing = writing.then(() => write(bundle));
          return false;
        },
      })
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    await writing;
  }
}

function versionOf(name: string, field: string, storage: boolean): object {
  const spec = { type: 'object', properties: { [field]: { type: 'integer' } } };
  const status = { type: 'object', properties: { text: { type: 'string' } } };
  return {
    ...{ name, storage, served: true, subresources: { status: {} } },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
  };
}
