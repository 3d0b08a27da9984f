import { readRules } from '#conversion';
import type { Informer, StoredObject } from '#kube/roles.ts';
import { definitionLabel } from '#reconcile';
import type { Logger } from '#telemetry/roles.ts';
import { encodeBase64 } from '#util/base64.ts';
import type { Clock } from '#util/clock.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { gvkOf } from '#util/gvk.ts';
import { errorLogFields } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { Waker } from '#util/pause.ts';
import { conversionsAnnotation, runtimeLabel } from '#util/stored-names.ts';
import type { RuntimeCluster } from '../../runner-options.ts';
import { crdGvk } from '../crd-definition.ts';
import type { CertificateAuthority, ConversionTarget } from './conversion-target.ts';
import { clientConfigOf, isInjected } from './crd-parts.ts';

interface CaBundlesOptions {
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly target: ConversionTarget;
  readonly authority: CertificateAuthority;
  /** Name of this runtime, as a label value. */
  readonly runtime: string;
}

const fieldManager = 'homeostat.conversion';
/** Objects with it are cached whole; those with rules are, too. */
const finalizer = 'homeostat.dev/conversion';
const retryMs = 5_000;
/** Something changes often before this, which then reads the state again. */
const idleMs = 600_000;
/**
 * Writes the certificates of the conversion webhook into the CRDs of this runtime, whatever the state of their definitions is, and also if
 * none of them runs. The Secret is not read before there is such a CRD.
 */
export class CaBundles {
  readonly #options: CaBundlesOptions;

  constructor(options: CaBundlesOptions) {
    this.#options = options;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster, clock, logger, runtime, authority } = this.#options;
    const waker = new Waker(clock);
    const annotations = {
      matchLabels: {},
      matchExpressions: [
        { key: conversionsAnnotation, operator: 'Exists' as const, values: [] as const },
      ],
    };
    const crds = cluster.acquire({
      gvk: crdGvk,
      labelSelector: `${runtimeLabel}=${runtime}`,
      fullObjects: { annotations, finalizer },
    });
    const wake = () => waker.wake();
    const stops = [crds.subscribe(wake)];
    let secrets: Informer | undefined;
    try {
      while (!signal.aborted) {
        let pauseMs = idleMs;
        try {
          const found = [...crds.list()].filter((crd) => this.#isOurs(crd));
          if (found.length > 0 && secrets === undefined) {
            secrets = acquireSecret(cluster, authority);
            stops.push(secrets.subscribe(wake));
          }
          if (secrets !== undefined) await this.#write(secrets, found, signal);
        } catch (error) {
          if (signal.aborted) return;
          logger.warn(
            errorLogFields(error),
            'The certificates of the conversion webhook cannot be written, will retry',
          );
          pauseMs = retryMs;
        }
        await waker.pause(pauseMs, signal);
      }
    } finally {
      for (const stop of stops) stop();
      secrets?.release();
      crds.release();
    }
  }

  async #write(
    secrets: Informer,
    crds: readonly StoredObject[],
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, secret, bundleOf } = this.#options.authority;
    const found = secrets.get(namespace, secret)?.object;
    const bundle = found && bundleOf(found);
    if (bundle === undefined) return;
    const caBundle = encodeBase64(bundle);
    for (const crd of crds) {
      if (clientConfigOf(crd.object)?.caBundle === caBundle) continue;
      await writeCaBundle(this.#options.cluster, { crd: crd.object, caBundle }, signal);
    }
  }

  /** Whether the API server sends its objects to this webhook, and no other program writes its certificates. */
  #isOurs({ object }: StoredObject): boolean {
    const { runtime, target } = this.#options;
    const { name, labels, annotations = {}, deletionTimestamp } = object.metadata;
    const { caBundle: _, ...config } = clientConfigOf(object) ?? {};
    const rules = readRules(annotations[conversionsAnnotation] ?? '');
    return (
      rules !== undefined &&
      deletionTimestamp === undefined &&
      labels?.[definitionLabel] !== undefined &&
      labels[runtimeLabel] === runtime &&
      !isInjected(object) &&
      deepEqual(config, target.clientConfig(name, rules.current))
    );
  }
}

/** Watches the Secret with the certificates. */
export function acquireSecret(
  cluster: RuntimeCluster,
  { namespace, secret }: CertificateAuthority,
): Informer {
  return cluster.acquire({
    gvk: gvkOf('v1', 'Secret'),
    namespace,
    fieldSelector: `metadata.name=${secret}`,
  });
}

/**
 * Writes the certificates that the API server trusts into a CRD, apart from its definition.
 * @throws KubeError
 */
export async function writeCaBundle(
  cluster: RuntimeCluster,
  { crd, caBundle }: { readonly crd: KubeObject; readonly caBundle: string },
  signal: AbortSignal,
): Promise<void> {
  const { apiVersion, kind, metadata } = crd;
  const { name, uid = '' } = metadata;
  await cluster.apply(
    {
      apiVersion,
      kind,
      metadata: { name, uid },
      spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { caBundle } } } },
    },
    { fieldManager, force: true, flow: { name: 'conversion', priority: 'object' } },
    signal,
  );
}
