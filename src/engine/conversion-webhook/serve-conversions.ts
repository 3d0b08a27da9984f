import type { YamlText } from '#conversion';
import type { Cluster } from '#kube/roles.ts';
import { type Logger, type MetricRegistry, metricCatalogue } from '#telemetry/roles.ts';
import { anySignal } from '#util/any-signal.ts';
import type { Clock } from '#util/clock.ts';
import { whenAborted } from '#util/when-aborted.ts';
import { CertificateFiles } from './certificates/certificate-files.ts';
import { CertificateKeeper } from './certificates/certificate-keeper.ts';
import type { CertificateSource } from './certificates/certificate-source.ts';
import { type CertificateTimes, defaultTimes } from './certificates/next-step.ts';
import { x509Issuer } from './certificates/take-step.ts';
import { ConversionHandler } from './server/conversion-handler.ts';
import { ServedCrds } from './server/served-crds.ts';
import { type DrainTimes, WebhookServer } from './server/webhook-server.ts';
import { type WebhookAddress, webhookNames } from './webhook-address.ts';

export interface ServeConversionsOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly yaml: YamlText;
  /** How the API server reaches this server: the names in its certificate. */
  readonly address: WebhookAddress;
  /** Address to listen on. @default all */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
  /** Where the certificates are. */
  readonly certificates:
    | { readonly kind: 'secret'; readonly namespace: string }
    /** With `tls.crt` and `tls.key`, which another program renews. */
    | { readonly kind: 'directory'; readonly directory: string };
  /** The name of this process, different from that of all others that serve at the address. */
  readonly server: string;
  /** @default none: connections are closed as soon as the running requests have ended */
  readonly drain?: DrainTimes;
  /** @default {@link defaultTimes} */
  readonly times?: CertificateTimes;
}

/** State of a {@link ConversionService}, for readiness. */
export interface ConversionServiceState {
  /** Undefined: it does not listen yet. */
  readonly port: number | undefined;
  /** Why it cannot convert. Undefined: it can. */
  readonly problem: string | undefined;
}

/** Serves the conversion webhook. */
export class ConversionService {
  readonly #options: ServeConversionsOptions;
  readonly #crds: ServedCrds;
  readonly #certificates: CertificateSource;
  readonly #handler: ConversionHandler;
  #server: WebhookServer | undefined;

  constructor(options: ServeConversionsOptions) {
    const { address, certificates, times = defaultTimes, server } = options;
    this.#options = options;
    this.#crds = new ServedCrds(options);
    this.#certificates =
      certificates.kind === 'directory'
        ? new CertificateFiles({ ...options, directory: certificates.directory })
        : new CertificateKeeper({
            ...options,
            ...{ times, server, issuer: x509Issuer, names: webhookNames(address) },
            namespace: certificates.namespace,
            bundles: this.#crds.bundlesFor(address),
          });
    this.#handler = new ConversionHandler({ ...options, crds: this.#crds });
  }

  get state(): ConversionServiceState {
    return { port: this.#server?.port, problem: this.#problem() };
  }

  /**
   * Runs until the signal aborts and the server has ended. It listens as soon as it has a certificate.
   * @throws Error of `node:net` when the address is unavailable
   */
  async run(signal: AbortSignal): Promise<void> {
    const stopper = new AbortController();
    const ending = anySignal([signal, stopper.signal]);
    const stopObserving = this.#observeExpiry();
    const keeping = this.#certificates.run(ending);
    // Requests are still converted while the server ends.
    const serving = this.#serve(ending);
    try {
      await Promise.race([serving, keeping.then(() => serving)]);
    } finally {
      stopper.abort(new Error('The conversion webhook has ended'));
      await Promise.allSettled([serving, keeping]);
      stopObserving();
      this.#crds.close();
    }
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { port, clock, host, logger, drain = { acceptMs: 0, idleMs: 0 } } = this.#options;
    const certificate = await this.#firstCertificate(signal);
    if (certificate === undefined) return;
    const stopper = new AbortController();
    const server = await WebhookServer.start({
      ...{ host, port, clock, certificate },
      handle: (request) => this.#handler.handle(request, stopper.signal),
    });
    this.#server = server;
    const unsubscribe = this.#certificates.onChange(() => {
      const { current } = this.#certificates;
      if (current !== undefined) server.setCertificate(current);
    });
    logger.info({ port: server.port }, 'The conversion webhook listens');
    await whenAborted(signal);
    logger.info({}, 'The conversion webhook ends');
    await server.end(drain);
    stopper.abort(new Error('The conversion webhook has ended'));
    unsubscribe();
    this.#server = undefined;
  }

  #firstCertificate(signal: AbortSignal) {
    const source = this.#certificates;
    return new Promise<CertificateSource['current']>((resolve) => {
      const settle = () => {
        if (source.current === undefined && !signal.aborted) return;
        unsubscribe();
        signal.removeEventListener('abort', settle);
        resolve(signal.aborted ? undefined : source.current);
      };
      const unsubscribe = source.onChange(settle);
      signal.addEventListener('abort', settle);
      settle();
    });
  }

  #observeExpiry(): () => void {
    const { metrics } = this.#options;
    const gauge = metrics.gauge(metricCatalogue.conversionCertificateExpiry);
    return this.#certificates.onChange(() => {
      const { current } = this.#certificates;
      if (current !== undefined) gauge.set(Math.floor(current.untilMs / 1_000));
    });
  }

  #problem(): string | undefined {
    const { current } = this.#certificates;
    if (current === undefined) return 'there is no certificate yet';
    if (current.untilMs < this.#options.clock.nowMs()) return 'the certificate has expired';
    if (this.#server === undefined) return 'it does not listen yet';
    return this.#crds.hasSynced ? undefined : 'the CustomResourceDefinitions are not read yet';
  }
}
