/** One text with definitions in it: a file of a directory (later also a ConfigMap's key). */
export interface DefinitionText {
  /** How diagnostics name it: the path as the user wrote it. */
  readonly file: string;
  readonly text: string;
}
