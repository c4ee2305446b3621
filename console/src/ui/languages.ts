// Grammars for colours alone, a tenth as large as those of highlight.js: these know words, strings, numbers and comments. No
// repetition is without a bound, so that a line of any length takes no longer than it has letters.
import type { LanguageFn, Mode } from 'highlight.js';

const words = (text: string): string[] => text.split(' ');

/** One letter in quotation marks; a lifetime of Rust is none. */
const CHARACTER: Mode = { className: 'string', begin: /'(?:\\[^'\n]{1,10}|[^\\'\n])'/ };
const THREE_QUOTES: Mode = { className: 'string', begin: /"""/, end: /"""/ };
const DIRECTIVE: Mode = { className: 'meta', begin: /^[ \t]{0,20}#/, end: /$/ };
const AT: Mode = { className: 'meta', begin: /@[A-Za-z_]\w{0,60}/ };
const TYPE: Mode = { className: 'type', begin: /\b[A-Z]\w{0,60}\b/ };

/** A language whose blocks are in braces and whose comments are those of C. What `first` matches goes before strings. */
function likeC(keyword: string, first: Mode[] = [CHARACTER], literal = 'true false null'): LanguageFn {
  return (hljs) => {
    const keywords = { keyword: words(keyword), literal: words(literal) };
    return {
      keywords,
      contains: [
        hljs.C_LINE_COMMENT_MODE,
        hljs.C_BLOCK_COMMENT_MODE,
        ...first,
        hljs.QUOTE_STRING_MODE,
        hljs.C_NUMBER_MODE,
        // `if (` is no function: its word stays one.
        { className: 'title', begin: /\b[A-Za-z_]\w{0,60}(?=\()/, keywords },
        TYPE,
      ],
    };
  };
}

export const cpp = likeC(
  'alignas alignof asm auto bool break case catch char class co_await co_return co_yield concept const consteval constexpr continue decltype default delete do double else enum explicit export extern final float for friend goto if inline int long mutable namespace new noexcept operator override private protected public register requires restrict return short signed sizeof static static_assert static_cast struct switch template this throw try typedef typename union unsigned using virtual void volatile while',
  [DIRECTIVE, CHARACTER],
  'true false nullptr NULL',
);

export const csharp = likeC(
  'abstract as async await base bool break byte case catch char class const continue decimal default delegate do double else enum event explicit extern finally fixed float for foreach get if implicit in init int interface internal is lock long namespace new object operator out override params private protected public readonly record ref required return sealed set short sizeof static string struct switch this throw try typeof uint ulong unsafe using var virtual void volatile when where while with yield',
  [DIRECTIVE, CHARACTER, THREE_QUOTES, { className: 'string', begin: /@"/, end: /"/, contains: [{ begin: /""/ }] }],
);

export const go = likeC(
  'any bool break byte case chan complex64 complex128 const continue default defer else error fallthrough float32 float64 for func go goto if import int int8 int16 int32 int64 interface map package range return rune select string struct switch type uint uint8 uint16 uint32 uint64 uintptr var',
  [CHARACTER, { className: 'string', begin: /`/, end: /`/ }],
  'true false nil iota',
);

export const java = likeC(
  'abstract assert boolean break byte case catch char class continue default do double else enum exports extends final finally float for if implements import instanceof int interface long module native new non-sealed package permits private protected public record requires return sealed short static strictfp super switch synchronized this throw throws transient try var void volatile while yield',
  [AT, CHARACTER, THREE_QUOTES],
);

export const kotlin = likeC(
  'abstract actual as break by catch class companion const constructor continue crossinline data do else enum expect external final finally for fun get if import in infix init inline inner interface internal is lateinit noinline object open operator out override package private protected public reified return sealed set super suspend tailrec this throw try typealias val value var vararg when where while',
  [AT, CHARACTER, THREE_QUOTES],
);

export const php = likeC(
  'abstract and array as bool break callable case catch class clone const continue declare default do echo else elseif enum extends final finally float fn for foreach function global if implements include include_once instanceof insteadof int interface isset list match mixed namespace never new or print private protected public readonly require require_once return static string switch throw trait try unset use var void while yield',
  [
    { className: 'meta', begin: /<\?(?:php|=)?|\?>/ },
    { className: 'comment', begin: /#(?!\[)/, end: /$/ },
    { className: 'variable', begin: /\$\w{1,60}/ },
    { className: 'string', begin: /'/, end: /'/, contains: [{ begin: /\\./ }] },
  ],
);

export const rust = likeC(
  'as async await bool box break char const continue crate dyn else enum extern f32 f64 fn for i8 i16 i32 i64 i128 if impl in isize let loop macro_rules match mod move mut pub ref return self static str struct super trait type u8 u16 u32 u64 u128 union unsafe use usize where while',
  [
    { className: 'meta', begin: /#!?\[/, end: /\]/ },
    CHARACTER,
    { className: 'symbol', begin: /'[a-z_]\w{0,60}/ },
    { className: 'built_in', begin: /\b[a-z_]\w{0,60}!(?!=)/ },
  ],
  'true false None Some Ok Err Self',
);

const SCRIPT_WORDS =
  'abstract any as asserts async await bigint boolean break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let module namespace never new number object of override package private protected public readonly return satisfies set static string super switch symbol this throw try type typeof unique unknown using var void while with yield';
/** A text with values in it, in which templates may stand again. */
const template = (inner: Mode[]): Mode => ({
  className: 'string',
  begin: /`/,
  end: /`/,
  contains: [
    { begin: /\\[^\n]/ },
    { className: 'subst', begin: /\$\{/, end: /\}/, keywords: { keyword: words(SCRIPT_WORDS) }, contains: inner },
  ],
});

/** JavaScript too, and both with tags in them. */
export const typescript = likeC(
  SCRIPT_WORDS,
  [
    AT,
    { className: 'string', begin: /'/, end: /'|$/, contains: [{ begin: /\\[^\n]/ }] },
    // So deep and no deeper: what is nested without a bound would end the stack.
    template([template([])]),
    // Where a value may begin; anywhere else the stroke divides.
    {
      className: 'regexp',
      begin:
        /(?<=(?:[=(,:[!&|?{};]|=>|\breturn)\s{0,4})\/(?![/*])(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n]){0,80}\]|[^/\\[\n]){1,200}\/[a-z]{0,8}/,
    },
    { className: 'attr', begin: /(?<=[{,]\s{0,40})[A-Za-z_$][\w$]{0,60}(?=\s{0,4}\??:)/ },
  ],
  'true false null undefined NaN Infinity',
);
export const javascript = typescript;

export const swift = likeC(
  'actor as associatedtype async await break case catch class continue convenience default defer deinit do dynamic else enum extension fallthrough fileprivate final for func get guard if import in indirect infix init inout internal is lazy let mutating nonisolated nonmutating open operator optional override private protocol public repeat required rethrows return self set some static struct subscript super switch throw throws try typealias unowned var weak where while',
  [AT, DIRECTIVE, THREE_QUOTES],
  'true false nil',
);

export const css: LanguageFn = (hljs) => ({
  case_insensitive: true,
  contains: [
    hljs.C_BLOCK_COMMENT_MODE,
    hljs.C_LINE_COMMENT_MODE,
    hljs.QUOTE_STRING_MODE,
    hljs.APOS_STRING_MODE,
    { className: 'keyword', begin: /@[\w-]{1,40}|!important\b/ },
    { className: 'number', begin: /#[0-9a-f]{3,8}\b|\b\d[\d.]{0,20}(?:%|[a-z]{1,5}\b)?/ },
    { className: 'selector-class', begin: /[.#][a-z_][\w-]{0,60}/ },
    // What stands before a colon, when no block begins behind it: `a:hover {` is a selector.
    { className: 'attribute', begin: /(?:--|\b)[a-z][\w-]{0,60}(?=\s{0,8}:[^;{}\n]{0,120}(?:[;}]|$))/ },
    { className: 'built_in', begin: /\b[a-z][\w-]{0,40}(?=\()/ },
  ],
});

export const sql: LanguageFn = (hljs) => ({
  case_insensitive: true,
  keywords: {
    keyword: words(
      'add all alter analyze and any as asc begin between by cascade case check collate column commit concurrently conflict constraint create cross current database default delete desc distinct do drop else end except execute exists explain fetch for foreign from full function generated grant group having if ilike in index inner insert intersect into is join key lateral left like limit lock materialized natural not nothing of offset on or order outer over partition primary procedure recursive references replace returning returns revoke right rollback row schema select sequence set skip table temporary then to transaction trigger truncate union unique update using values view when where window with',
    ),
    literal: words('true false null'),
    type: words(
      'bigint boolean bytea char date decimal double float int integer interval json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar',
    ),
  },
  contains: [
    { className: 'comment', begin: /--/, end: /$/ },
    hljs.C_BLOCK_COMMENT_MODE,
    { className: 'string', begin: /'/, end: /'/, contains: [{ begin: /''/ }] },
    { className: 'attr', begin: /"/, end: /"/ },
    hljs.C_NUMBER_MODE,
    { className: 'variable', begin: /[$:@]\w{1,60}/ },
  ],
});

export const ruby: LanguageFn = (hljs) => ({
  keywords: {
    keyword: words(
      'alias and attr_accessor attr_reader attr_writer begin break case class def defined? do else elsif end ensure extend for if in include lambda loop module next not or prepend private proc protected public raise redo require require_relative rescue retry return self super then undef unless until when while yield',
    ),
    literal: words('true false nil'),
  },
  contains: [
    hljs.HASH_COMMENT_MODE,
    hljs.QUOTE_STRING_MODE,
    hljs.APOS_STRING_MODE,
    hljs.C_NUMBER_MODE,
    { className: 'symbol', begin: /:[a-z_]\w{0,60}[?!]?/ },
    { className: 'variable', begin: /@{1,2}\w{1,60}|\$\w{1,60}/ },
    TYPE,
  ],
});

export const python: LanguageFn = (hljs) => {
  const keywords = {
    keyword: words(
      'and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield',
    ),
    literal: words('True False None'),
    built_in: words('self cls'),
  };
  return {
    keywords,
    contains: [
      hljs.HASH_COMMENT_MODE,
      THREE_QUOTES,
      { className: 'string', begin: /'''/, end: /'''/ },
      hljs.QUOTE_STRING_MODE,
      hljs.APOS_STRING_MODE,
      hljs.C_NUMBER_MODE,
      AT,
      { className: 'title', begin: /\b[A-Za-z_]\w{0,60}(?=\()/, keywords },
      TYPE,
    ],
  };
};

export const bash: LanguageFn = () => {
  const variable: Mode = { className: 'variable', begin: /\$\w{1,60}|\$[@#?!*$-]|\$\{[^}\n]{1,80}\}/ };
  return {
    keywords: {
      keyword: words('if then else elif fi for while until in do done case esac function select time return exit'),
      built_in: words(
        'alias cd command declare echo eval exec export local printf pwd read readonly set shift source test trap unset wait',
      ),
      literal: words('true false'),
    },
    contains: [
      { className: 'comment', begin: /(?<=^|[ \t;])#/m, end: /$/ },
      { begin: /\\[^\n]/ },
      { className: 'string', begin: /'/, end: /'/ },
      { className: 'string', begin: /"/, end: /"/, contains: [{ begin: /\\[^\n]/ }, variable] },
      variable,
    ],
  };
};
