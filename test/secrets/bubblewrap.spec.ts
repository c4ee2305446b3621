import { attackFrom } from './from-inside.js';

describe('A sandbox of bubblewrap, from inside', () => attackFrom('bubblewrap'));
