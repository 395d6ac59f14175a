//! Test body shared by the processes with the default and with a raised threshold.

use foretell_memory::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Resizes a block through these sizes in MiB; fills each and checks the bytes kept.
pub(crate) fn grow_and_shrink(sizes: &[usize]) {
    let expected = |at: usize| at.to_le_bytes()[0] ^ at.to_le_bytes()[2];
    let mut block: Vec<u8> = Vec::new();
    for size in sizes {
        let (size, kept) = (size << 20, block.len().min(size << 20));
        block.truncate(size);
        block.shrink_to_fit();
        block.reserve_exact(size - block.len());
        assert_eq!(block.capacity(), size);
        assert!((0..kept).all(|at| block[at] == expected(at)), "{size}");
        block.extend((kept..size).map(expected));
        drop(std::hint::black_box(vec![1_u8; size]));
        let zeroed = std::hint::black_box(vec![0_u8; size]);
        assert!(zeroed.iter().all(|byte| *byte == 0), "{size}");
    }
}
