// Package chart has the style of the charts in bench/record.
package chart

// Style is the style sheet of an SVG chart. Its classes are .head and .small for text;
// .page for the background; .grid for lines; .bar for bars, .own for this project's bars,
// .alone for narrow bars within them. It follows the reader's choice of light or dark.
const Style = `<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.head { font-weight: 600; font-size: 15px }
.small { font-size: 12px; fill: #59636e }
.page { fill: #fff }
.grid { stroke: #d1d9e0 }
.bar { fill: #b6bec7 }
.own { fill: #0969da }
.alone { fill: #59636e }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.small { fill: #9198a1 }
.page { fill: #0d1117 }
.grid { stroke: #3d444d }
.bar { fill: #3d444d }
.own { fill: #4493f8 }
.alone { fill: #9198a1 }
}
</style>
`
