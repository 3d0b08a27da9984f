/** One text with definitions in it: a file of a directory, a key of a ConfigMap, an object. */
export interface DefinitionText {
  /** How diagnostics name it: a path as the user wrote it, say. */
  readonly file: string;
  readonly text: string;
}
