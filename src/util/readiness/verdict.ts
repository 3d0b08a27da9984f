/** Is an object ready for use? The message is stable: without times, random names or resourceVersions. */
export interface Readiness {
  readonly state: 'Ready' | 'Progressing' | 'Failed';
  /** For people, without the object's name: `2 of 3 replicas are ready`. */
  readonly message: string;
}

export function ready(message: string): Readiness {
  return { state: 'Ready', message };
}

export function progressing(message: string): Readiness {
  return { state: 'Progressing', message };
}

export function failed(message: string): Readiness {
  return { state: 'Failed', message };
}
