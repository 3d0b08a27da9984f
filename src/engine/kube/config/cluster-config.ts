import { HomeostatError } from '#util/homeostat-error.ts';
/** Credentials of a request, and the trusted certificate authorities. */
export interface Credentials {
  /** `authorization`, `impersonate-user`. */
  readonly headers: Readonly<Record<string, string>>;
  /** PEM of the certificate authorities. @default those of Node */
  readonly ca?: string;
  /** PEM of the client certificate. */
  readonly cert?: string;
  /** PEM of the client key. */
  readonly key?: string;
}

export interface LoadOptions {
  readonly wasRejected: boolean;
  readonly signal?: AbortSignal;
}

/** A source of credentials: files, plugins, providers. */
export interface CredentialsSource {
  /**
   * Loads the credentials. Those of a plugin or provider are cached until they expire or the server rejects them
   * (`wasRejected`). `signal` stops a running plugin. @default it runs to its end
   * @throws Error when a file cannot be read or a plugin fails.
   */
  load(options: LoadOptions): Promise<Credentials>;
}

/** Address and credentials of one API server. Created by `loadKubeConfig`, or by hand in tests. */
export interface ClusterConfig {
  /** `https://host:port`, optionally with a path prefix. */
  readonly server: string;
  /** Namespace of the context or of the service account, or `default`. */
  readonly namespace: string;
  /** Namespace of our own Pod, if it runs in this cluster. @default undefined */
  readonly ownNamespace?: string;
  readonly credentials: CredentialsSource;
  /** Expected name in the server's certificate, if it is not the host of `server`. */
  readonly tlsServerName?: string;
  /** Skips the verification of the server's certificate. @default false */
  readonly skipsTlsVerify?: boolean;
  /** An HTTP proxy, `http://` or `https://`. */
  readonly proxyUrl?: string;
}

/**
 * A configuration error for the user of the command line: a missing file or context (`not-found`), invalid content
 * (`invalid`) or an unsupported feature (`unsupported`).
 */
export class KubeConfigError extends HomeostatError<'invalid' | 'not-found' | 'unsupported'> {}
