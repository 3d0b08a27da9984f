/** A version of a kind whose versions differ, as the installed CRD has it. */
export interface VersionView {
  readonly name: string;
  readonly served: boolean;
  /** Whether resources are written in it. */
  readonly storage: boolean;
  /** Whether resources may be stored in it: then it cannot be removed. */
  readonly stored: boolean;
  /** Whether conversions from and to it have succeeded on the API server, by the rules and the webhook of now; while others are tried: by those before. */
  readonly proven: boolean;
}

/** Resources that are stored in the new storage version. */
export interface MigrationView {
  /** The storage version. */
  readonly version: string;
  readonly written: number;
  readonly total: number;
  /** Names of resources that are invalid in it, at most five. @default none so far */
  readonly rejected?: readonly string[];
}
