// What a schema is tried out with before its task is made: what would not come to an end is to show itself then. Plain JavaScript,
// because the thread beside the service uses it.

/** Levels of the sample, and places of the schema that it comes to. */
const LEVELS = 8;
const PLACES = 500;
/** On such texts a pattern that tries everything does not come to an end. */
const TEXTS = ['a', '0', ' ', '-', 'a0', 'a ', 'A', '_', '.', '/'].map((sign) => `${sign.repeat(40)}!`);

/** A value that reaches what lies inside of a schema: every property, and one of each list. It need not fit. */
export function sampleOf(root) {
  let places = PLACES;
  const build = (schema, level) => {
    if (level > LEVELS) return TEXTS[0];
    const object = {};
    const items = [];
    const gather = (one, depth) => {
      if (typeof one !== 'object' || one === null || depth > LEVELS || places-- <= 0) return;
      for (const [name, property] of Object.entries(one.properties ?? {})) object[name] = build(property, level + 1);
      for (const item of [...listOf(one.prefixItems), one.items]) {
        if (typeof item === 'object') items.push(build(item, level + 1));
      }
      if (typeof one.additionalProperties === 'object') object['a'] ??= build(one.additionalProperties, level + 1);
      const inPlace = [...listOf(one.allOf), ...listOf(one.anyOf), ...listOf(one.oneOf)];
      for (const part of [...inPlace, one.if, one.then, one.else, one.not, referred(root, one.$ref)]) {
        gather(part, depth + 1);
      }
    };
    gather(schema, 0);
    if (Object.keys(object).length > 0) return object;
    return items.length > 0 ? items : TEXTS[0];
  };
  return build(root, 0);
}

function listOf(value) {
  return Array.isArray(value) ? value : [];
}

function referred(root, ref) {
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return ref === '#' ? root : undefined;
  const steps = ref.slice(2).split('/').map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')); // prettier-ignore
  return steps.reduce((at, step) => at?.[step], root);
}

/** Applies each pattern of a schema to a few texts. */
export function tryPatterns(schema) {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'pattern' && typeof value === 'string') tryPattern(value);
    if (key === 'patternProperties') for (const pattern of Object.keys(value)) tryPattern(pattern);
    tryPatterns(value);
  }
}

function tryPattern(pattern) {
  let tried;
  try {
    tried = new RegExp(pattern, 'u');
  } catch {
    // It stands where no pattern is expected, in `const` or `examples`: the schema was compiled.
    return;
  }
  for (const text of TEXTS) tried.test(text);
}
