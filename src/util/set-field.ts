/** Sets an own field of any name: assigning to `__proto__` would change the prototype instead. */
export function setField<Value>(
  object: { [name: string]: Value },
  name: string,
  value: NoInfer<Value>,
): void {
  if (name !== '__proto__') object[name] = value;
  else {
    const descriptor = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, name, descriptor);
  }
}
