/** What a request carries so that the server trusts us, and we it. */
export interface Credentials {
  /** `authorization`, `impersonate-user`. */
  readonly headers: Readonly<Record<string, string>>;
  /** PEM text of the authorities that vouch for the server. @default those of Node */
  readonly ca?: string;
  /** PEM text of the client's certificate. */
  readonly cert?: string;
  /** PEM text of its key. */
  readonly key?: string;
}

/** Where credentials come from: files, plugins, providers. */
export interface CredentialsSource {
  /**
   * Reads them again. What a plugin or a provider gave is kept until it expires, or until the server
   * refused it (`wasRefused`).
   * @throws Error when a file cannot be read or a plugin fails.
   */
  load(options: { readonly wasRefused: boolean }): Promise<Credentials>;
}

/** How to reach one API server, and as whom. `loadKubeConfig` makes it; tests may write it by hand. */
export interface ClusterConfig {
  /** `https://host:port`, with a path where the server has a prefix. */
  readonly server: string;
  /** Of the context, of the service account, or `default`. */
  readonly namespace: string;
  /** Where we run ourselves, if that is in a Pod of this cluster. @default undefined */
  readonly ownNamespace?: string;
  readonly credentials: CredentialsSource;
  /** The name that the server's certificate must have, where it is not the host of `server`. */
  readonly tlsServerName?: string;
  /** The server's certificate is not checked. @default false */
  readonly skipsTlsVerify?: boolean;
  /** An HTTP proxy, `http://` or `https://`. */
  readonly proxyUrl?: string;
}
