/** Looks at an object again after a time. */
export type LookAgain = (key: string, ms: number) => void;
