/** "alice=2" → {name: 'alice', weight: 2}; the weight is 1 when it is not given. */
export function parsePerson(text) {
  const [name, weight = '1', ...rest] = text.split('=');
  if (name === '' || rest.length > 0 || !/^[1-9]\d{0,5}$/.test(weight)) {
    throw new RangeError(`'${text}' is not a person such as alice or alice=2`);
  }
  return { name, weight: Number(weight) };
}
