import { attackFrom } from './from-inside.js';

describe('A sandbox of namespaces, from inside', () => attackFrom('namespaces'));
