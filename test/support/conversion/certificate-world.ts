import {
  type Certificate,
  readCertificates,
} from '#conversion-webhook/certificates/certificate.ts';
import {
  CertificateKeeper,
  type CrdBundles,
  secretGvk,
} from '#conversion-webhook/certificates/certificate-keeper.ts';
import {
  type CertificateState,
  caBundleOf,
  readState,
} from '#conversion-webhook/certificates/certificate-state.ts';
import {
  type CertificateTimes,
  defaultTimes,
  isChanging,
} from '#conversion-webhook/certificates/next-step.ts';
import { type CertificateIssuer, x509Issuer } from '#conversion-webhook/certificates/take-step.ts';
import { type Logger, silentLogger } from '#telemetry';
import type { KubeObject } from '#util/kube-object.ts';
import { webhookSecretName } from '#util/stored-names.ts';
import { FakeClock, settle } from '../fake-clock.ts';
import { FakeCluster } from '../fakes/fake-cluster.ts';
import { FakeServer } from '../fakes/fake-server.ts';

const dayMs = 24 * 3_600_000;
const namespace = 'homeostat-system';
const secretType = {
  gvk: secretGvk,
  plural: 'secrets',
  namespaced: true,
  hasStatus: false,
  verbs: [],
};

/** Lives that are a hundredth of the real ones, and shorter waits. */
export const shortTimes: CertificateTimes = {
  ...defaultTimes,
  authorityLifeMs: 5 * dayMs,
  leafLifeMs: dayMs,
  loadMs: 20_000,
  lostServerMs: 60_000,
};

/** A CRD that the API server sends to the webhook: what it trusts, and what the API server has noticed of that. */
interface TrustingCrd {
  bundle: readonly Certificate[];
  noticed: readonly Certificate[];
}

/** One server of the webhook, which can be killed. */
export interface LiveServer {
  readonly name: string;
  readonly keeper: CertificateKeeper;
  readonly cluster: FakeCluster;
  readonly stopper: AbortController;
  readonly ended: Promise<void>;
}

/** A Secret, CRDs, a leader that writes their bundles, and servers that come and go. */
export class CertificateWorld {
  readonly clock = new FakeClock();
  readonly server = new FakeServer([secretType]);
  readonly crds: TrustingCrd[] = [];
  readonly servers: LiveServer[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #times: CertificateTimes;
  #issuing = 0;
  #started = 0;

  constructor(times = shortTimes) {
    this.#times = times;
  }

  get secret(): KubeObject | undefined {
    return this.server.get(secretGvk, namespace, webhookSecretName)?.object;
  }

  get state(): CertificateState | undefined {
    return this.secret && readState(this.secret);
  }

  get isSteady(): boolean {
    return this.state !== undefined && !isChanging(this.state);
  }

  /** Starts a server whose clock on the wall is ahead. `dies`: asked before and after each write. */
  start({
    aheadMs = 0,
    dies = () => false,
    names = ['webhook.test.svc'],
    logger = silentLogger,
  }: StartOptions = {}): LiveServer {
    this.#started += 1;
    const name = `server-${this.#started}`;
    const cluster = new FakeCluster([secretType], this.server);
    const stopper = new AbortController();
    cluster.pace = async () => {
      if (dies()) stopper.abort(new Error('Killed'));
    };
    const { clock } = this;
    const keeper = new CertificateKeeper({
      ...{ cluster, namespace, names, server: name, times: this.#times },
      clock: {
        nowMs: () => clock.nowMs() + aheadMs,
        monotonicMs: () => clock.monotonicMs(),
        sleep: (ms, signal) => clock.sleep(ms, signal),
        after: (ms, callback) => clock.after(ms, callback),
      },
      logger,
      issuer: this.#issuer(),
      bundles: this.#bundles(),
    });
    const ended = keeper.run(stopper.signal);
    const live = { name, keeper, cluster, stopper, ended };
    this.servers.push(live);
    return live;
  }

  /** Somebody deletes the Secret. */
  remove(): void {
    const { uid } = this.secret?.metadata ?? {};
    if (uid !== undefined)
      this.server.delete(secretGvk, { namespace, name: webhookSecretName, uid });
  }

  /** Somebody writes nonsense into the Secret. */
  spoil(key: string): void {
    const { secret } = this;
    if (secret === undefined) return;
    this.server.put({ ...secret, data: { ...(secret.data as object), [key]: btoa('nonsense') } });
  }

  /** A CRD of a definition appears, with what the Secret has now. */
  addCrd(): void {
    const bundle = this.#bundleNow() ?? [];
    this.crds.push({ bundle, noticed: bundle });
    this.#changed();
  }

  /** The leader writes one CRD that has not the bundle of the Secret. */
  lead(): void {
    const now = this.#bundleNow();
    const stale = now && this.crds.find(({ bundle }) => pemsOf(bundle) !== pemsOf(now));
    if (now === undefined || stale === undefined) return;
    stale.bundle = now;
    this.#changed();
  }

  /** The API servers notice what CRDs have. */
  notice(): void {
    for (const crd of this.crds) crd.noticed = crd.bundle;
  }

  /** Watches deliver, time passes, and everything settles. Servers that have died are dropped. */
  async pass(ms: number, delivers: (live: LiveServer) => boolean = () => true): Promise<void> {
    await this.clock.advance(ms);
    do {
      for (const live of this.servers) if (delivers(live)) live.cluster.deliver();
      await settle();
    } while (this.#issuing > 0);
    await settle();
    for (const live of this.servers.filter(({ stopper }) => stopper.signal.aborted)) {
      await live.ended;
      live.cluster.leave();
      this.servers.splice(this.servers.indexOf(live), 1);
    }
  }

  /** Connections that fail now: a server whose leaf the API server does not trust. */
  failures(): readonly string[] {
    const nowMs = this.clock.nowMs();
    return this.servers.flatMap(({ name, keeper: { current } }) => {
      if (current === undefined) return [];
      if (current.untilMs <= nowMs) return [`${name} serves an expired leaf`];
      if (current.fromMs > nowMs) return [`${name} serves a leaf that is not valid yet`];
      const isTrusted = this.crds.every(({ noticed }) =>
        noticed.some(({ fingerprint }) => fingerprint === current.issuer),
      );
      return isTrusted ? [] : [`${name} serves a leaf that a CRD does not trust`];
    });
  }

  async end(): Promise<void> {
    for (const { stopper } of this.servers) stopper.abort(new Error('The test has ended'));
    await this.pass(0);
  }

  #bundleNow(): readonly Certificate[] | undefined {
    const pem = this.secret && caBundleOf(this.secret);
    return pem === undefined ? undefined : readCertificates(pem);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #bundles(): CrdBundles {
    return {
      isSynced: true,
      list: () => this.crds.map(({ bundle }) => bundle),
      onChange: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
  }

  /** Real certificates, which take time of the real clock. */
  #issuer(): CertificateIssuer {
    const counted = async <Result>(work: Promise<Result>) => {
      this.#issuing += 1;
      try {
        return await work;
      } finally {
        this.#issuing -= 1;
      }
    };
    return {
      issueAuthority: (...given) => counted(x509Issuer.issueAuthority(...given)),
      issueLeaf: (...given) => counted(x509Issuer.issueLeaf(...given)),
    };
  }
}

interface StartOptions {
  readonly aheadMs?: number;
  readonly dies?: () => boolean;
  readonly names?: readonly string[];
  /** @default nothing is logged */
  readonly logger?: Logger;
}

function pemsOf(certificates: readonly Certificate[]): string {
  return certificates.map(({ pem }) => pem).join('');
}
