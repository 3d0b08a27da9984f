/** The argument of the process, as JSON. */
export interface BareLoop {
  readonly url: string;
  readonly count: number;
  readonly concurrency: number;
  /** A kubeconfig of a test plane. Undefined: only the API. */
  readonly kubeconfig?: string;
}
