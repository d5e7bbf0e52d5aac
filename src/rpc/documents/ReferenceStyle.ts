/**
 * The reference's only style: the explorer's paper, ink and green. Inline, so that a policy can name it by its hash.
 */
export const STYLE = `:root{color-scheme:light dark;--paper:light-dark(#f6f5f1,#0e1413);--surface:light-dark(#fffefb,#141c1a);
--ink:light-dark(#1b2524,#e3eae7);--quiet:light-dark(#5b6866,#93a3a0);--line:light-dark(#e2e0d8,#24312e);--accent:light-dark(#0c6b62,#5fc9b8);
--accent-ink:light-dark(#fff,#08201c)}
*{box-sizing:border-box}html{background:var(--paper);color:var(--ink);font:15px/1.5 Inter,system-ui,-apple-system,"Segoe UI",sans-serif;scroll-padding-top:70px}
body{margin:0}a{color:var(--accent)}
header{position:sticky;top:0;z-index:1;display:flex;gap:16px;align-items:center;padding:10px 20px;background:var(--surface);border-bottom:1px solid var(--line)}
header a{white-space:nowrap}#search{flex:1;min-width:0;max-width:34rem}
main{max-width:62rem;margin:0 auto;padding:20px 20px 80px;overflow-wrap:anywhere}
h1{font-size:1.55rem;margin:0 0 8px}h2{font-size:1.15rem;margin:28px 0 4px}h4{margin:14px 0 4px}
.about,small,dd{color:var(--quiet)}p{margin:4px 0 10px}nav{display:flex;flex-wrap:wrap;gap:4px 14px}
code,pre,textarea{font:.86em/1.5 ui-monospace,"SF Mono","DejaVu Sans Mono",monospace}
pre{overflow:auto;padding:10px 12px;border-radius:7px;background:var(--paper);border:1px solid var(--line);max-height:30rem;overflow-wrap:normal}
details{background:var(--surface);border:1px solid var(--line);border-radius:7px;padding:8px 14px;margin:6px 0}summary{cursor:pointer}
details[open]>summary{margin-bottom:8px}summary b{display:inline-block;min-width:3.2em;color:var(--accent)}
ul{margin:4px 0;padding-left:1.2em}dd{margin:0 0 10px 1.2em}
input,textarea{font-size:.9rem;padding:6px 10px;border-radius:7px;border:1px solid var(--line);background:var(--paper);color:var(--ink)}
.try label{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:6px 0}.try input{flex:1;min-width:12rem}textarea{width:100%}
button{font:inherit;padding:6px 14px;border:0;border-radius:7px;background:var(--accent);color:var(--accent-ink);cursor:pointer;margin:6px 0}
[hidden]{display:none!important}:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (max-width:600px){header,main{padding-left:12px;padding-right:12px}dd{margin-left:0}ul{padding-left:.9em}}`
