import {
  type ConversionRules,
  type Converter,
  createConverter,
  readRules,
  type StoredRules,
  versionsOfCrd,
  type YamlText,
} from '#conversion';
import { type Cluster, type Informer, KubeError, type WriteOptions } from '#kube/roles.ts';
import { decodeBase64 } from '#util/base64.ts';
import type { Clock } from '#util/clock.ts';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation, definitionLabel } from '#util/stored-names.ts';
import { type Certificate, readCertificates } from '../certificates/certificate.ts';
import type { CrdBundles } from '../certificates/certificate-keeper.ts';
import { bundleOfCrd, type WebhookAddress } from '../webhook-address.ts';

export const crdGvk = gvkOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
const read: WriteOptions = { flow: { name: 'conversion', priority: 'object' } };
/** No CRD has it: what is selected is decided by the annotation alone. */
const noFinalizer = 'homeostat.dev/conversion';
/** How long a CRD that has no such rules is not read again. */
const missMs = 1_000;
/** Names that were asked for in vain. */
const maxMisses = 1_000;

/** The kind of a CRD, converted by one table of rules. */
export interface ServedConversion {
  readonly converter: Converter;
  /** Name of the definition. */
  readonly definition: string;
  readonly group: string;
  readonly kind: string;
  readonly versions: readonly string[];
}

/** What is wrong with a request. */
export interface ConversionProblem {
  readonly problem: string;
}

interface ServedCrdsOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly yaml: YamlText;
}

/** A version of a CRD, and what was made of it. */
interface ReadCrd {
  readonly resourceVersion: string | undefined;
  readonly rules: StoredRules | undefined;
  readonly conversions: Map<string, ServedConversion>;
}

/**
 * The CRDs with rules, of any owner: those of definitions that are paused, broken or withdrawn, and those that are kept after their
 * definition are served as any other.
 */
export class ServedCrds {
  readonly #options: ServedCrdsOptions;
  readonly #crds: Informer;
  readonly #read = new Map<string, ReadCrd>();
  readonly #bundles = new Map<string, readonly Certificate[]>();
  /** By name, when a live CRD was last read in vain. */
  readonly #misses = new Map<string, number>();
  readonly #reading = new Map<string, Promise<void>>();
  #hasSynced = false;

  constructor(options: ServedCrdsOptions) {
    this.#options = options;
    const annotations = {
      matchLabels: {},
      matchExpressions: [
        { key: conversionsAnnotation, operator: 'Exists' as const, values: [] as const },
      ],
    };
    this.#crds = options.cluster.acquire({
      gvk: crdGvk,
      fullObjects: { annotations, finalizer: noFinalizer },
    });
    const note = () => {
      this.#hasSynced ||= this.isSynced;
    };
    this.#crds.onState(note);
    note();
  }

  get isSynced(): boolean {
    return this.#crds.state.kind === 'synced';
  }

  /** Whether they were known once. Later failures leave what is known. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Calls the listener when a CRD or {@link isSynced} changes. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    const stops = [this.#crds.subscribe(listener), this.#crds.onState(listener)];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /**
   * The conversion of a CRD by the rules of a digest. The API server may have read a change that the watch has not delivered yet: rules that
   * are not known are looked for in the live CRD.
   */
  async find(
    name: string,
    digest: string,
    signal: AbortSignal,
  ): Promise<ServedConversion | ConversionProblem> {
    const known = this.#known(name, digest);
    if (!isProblem(known)) return known;
    await this.#readLive(name, signal);
    return this.#known(name, digest);
  }

  /** What CRDs trust that are sent to the webhook. */
  bundlesFor(address: WebhookAddress): CrdBundles {
    const isSynced = () => this.isSynced;
    return {
      get isSynced() {
        return isSynced();
      },
      list: () =>
        [...this.#crds.list()].flatMap(({ object }) => {
          const bundle = bundleOfCrd(object, address);
          return bundle === undefined ? [] : [this.#certificates(bundle)];
        }),
      onChange: (listener) => this.onChange(listener),
    };
  }

  close(): void {
    this.#crds.release();
  }

  #certificates(bundle: string): readonly Certificate[] {
    const known = this.#bundles.get(bundle);
    if (known !== undefined) return known;
    const certificates = readCertificates(decodeBase64(bundle) ?? '');
    // Few at a time: that of now, and those of a change.
    if (this.#bundles.size > 10) this.#bundles.clear();
    this.#bundles.set(bundle, certificates);
    return certificates;
  }

  #known(name: string, digest: string): ServedConversion | ConversionProblem {
    const crd = this.#crds.get(undefined, name)?.object;
    if (crd === undefined)
      return { problem: `There is no CustomResourceDefinition "${name}", or it is not known yet` };
    const found = this.#readOf(name, crd);
    if (found.rules === undefined)
      return { problem: `CustomResourceDefinition "${name}" has no readable conversion rules` };
    const known = found.conversions.get(digest);
    if (known !== undefined) return known;
    const rules = found.rules.byDigest.get(digest);
    if (rules === undefined)
      return {
        problem: `CustomResourceDefinition "${name}" has no conversion rules with the digest "${digest}"; its current ones have "${found.rules.current}"`,
      };
    const conversion = conversionOf(crd, rules, this.#options.yaml);
    found.conversions.set(digest, conversion);
    return conversion;
  }

  #readOf(name: string, crd: KubeObject): ReadCrd {
    const { resourceVersion, annotations } = crd.metadata;
    const before = this.#read.get(name);
    if (before !== undefined && before.resourceVersion === resourceVersion) return before;
    const text = annotations?.[conversionsAnnotation];
    const rules = text === undefined ? undefined : readRules(text);
    const now = { resourceVersion, rules, conversions: new Map() };
    this.#read.set(name, now);
    return now;
  }

  /** The response enters the cache of CRDs. */
  async #readLive(name: string, signal: AbortSignal): Promise<void> {
    const { cluster, clock } = this.#options;
    const missedMs = this.#misses.get(name);
    if (missedMs !== undefined && clock.monotonicMs() - missedMs < missMs) return;
    const running = this.#reading.get(name);
    if (running !== undefined) return running;
    const reading = cluster.get({ gvk: crdGvk, name }, read, signal).then(
      () => undefined,
      (error: unknown) => {
        if (!(error instanceof KubeError)) throw error;
      },
    );
    this.#reading.set(name, reading);
    try {
      await reading;
    } finally {
      this.#reading.delete(name);
      if (this.#misses.size >= maxMisses) this.#misses.clear();
      this.#misses.set(name, clock.monotonicMs());
    }
  }
}

export function isProblem(found: ServedConversion | ConversionProblem): found is ConversionProblem {
  return 'problem' in found;
}

function conversionOf(crd: KubeObject, rules: ConversionRules, yaml: YamlText): ServedConversion {
  const spec = isJsonObject(crd.spec) ? crd.spec : {};
  const names = isJsonObject(spec.names) ? spec.names : {};
  const versions = versionsOfCrd(crd);
  return {
    converter: createConverter({ rules, ...versions, yaml }),
    definition: crd.metadata.labels?.[definitionLabel] ?? '',
    group: String(spec.group),
    kind: String(names.kind),
    versions: [...versions.schemas.keys()],
  };
}
